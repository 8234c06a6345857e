// I18: what is shown of a group.
#include "followings.hpp"
#include "judge.hpp"
#include "layout.hpp"
#include "shown.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <utility>

namespace zklock::chaos {
namespace {

/// The nodes by their names: which transactions have made them.
using Members = std::map<std::string, std::int64_t>;

std::vector<Moment<Members>> moments_of_group(const Lives& lives) {
  struct Step {
    std::int64_t at = 0;
    std::map<std::string, std::int64_t> there{};  // 0: no more
  };
  std::map<std::int64_t, Step> steps;  // by transaction, which may replace a node
  const std::string root = std::string{group_root} + "/";
  for (const auto& [path, all] : lives.all()) {
    if (!path.starts_with(root)) continue;
    const std::string name = path.substr(root.size());
    for (const Life& each : all) {
      steps[each.created()].at = each.created_at();
      steps[each.created()].there[name] = each.created();
      if (each.removed == INT64_MAX) continue;
      steps[each.removed].at = each.removed_at;
      steps[each.removed].there.emplace(name, 0);  // the next one may have come with the same
    }
  }
  std::vector<Moment<Members>> moments{{}};
  for (const auto& [zxid, step] : steps) {
    Members now = moments.back().state;
    for (const auto& [name, created] : step.there) created == 0 ? void(now.erase(name)) : void(now[name] = created);
    moments.push_back({step.at, std::move(now)});
  }
  return moments;
}

Members parse_members(const std::string& word) {
  Members shown;
  std::istringstream list{word.substr(word.find(':') + 1)};
  for (std::string each; std::getline(list, each, ',');) {
    const auto colon = each.rfind(':');
    shown[each.substr(0, colon)] = std::stoll(each.substr(colon + 1));
  }
  return shown;
}

/// A link to a server that does not know what the others know proves nothing.
std::int64_t not_before(const Evidence& evidence, const Record& shown, const std::vector<Interval>& troubles) {
  const bool is_excused = std::ranges::any_of(
      troubles, [&](const Interval& trouble) { return trouble.begin <= shown.at && shown.number <= trouble.end; });
  return is_excused || shown.number == 0 ? 0 : evidence.visible_at(shown.number, shown.process);
}

}  // namespace

std::vector<Violation> find_misshown_groups(const Evidence& evidence) {
  std::vector<Violation> found;
  const auto truth = moments_of_group(evidence.lives);
  const auto troubles = times_of_stale_servers(evidence);
  const auto strayed = times_of_strayed_servers(evidence);
  for (const Following& each : followings_of(evidence, Event::follows, Event::unfollows)) {
    if (each.path != group_root) continue;
    const auto add = [&](const std::string& what, std::int64_t at) {
      found.push_back({"of a group " + what, {}, each.process, 0, at, each.path});
    };
    std::vector<Moment<Members>> shown;
    for (const Record& record : each.records)
      if (record.event == Event::shows)
        shown.push_back({record.at, parse_members(record.reason), not_before(evidence, record, troubles)});
    const Interval unknown{each.when.begin, shown.empty() ? each.when.end : shown.front().at};
    if (evidence.is_too_long(each.process, unknown)) add("nothing was shown for too long", unknown.end);
    if (const auto wrong = find_misshown(evidence, each.process, truth, shown, strayed, each.when.end))
      add(wrong->what, wrong->at);
  }
  return found;
}

}  // namespace zklock::chaos
