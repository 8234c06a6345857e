// I21: nodes stay until their holders give them up, and what is shown of leaders.
#include "followings.hpp"
#include "judge.hpp"
#include "layout.hpp"
#include "shown.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace zklock::chaos {
namespace {

/// The transaction that has made the node of the leader; 0: there is none.
using Leading = std::int64_t;

std::vector<Moment<Leading>> moments_of_leaders(const History& history, const std::string& election) {
  struct Step {
    std::int64_t at = 0;
    std::vector<const Node*> made{};
    std::vector<const Node*> gone{};
  };
  std::map<std::int64_t, Step> steps;  // by transaction; a session's end removes several
  for (const auto& [created, node] : history.nodes()) {
    if (node.directory != election) continue;
    steps[created].at = node.created_at;
    steps[created].made.push_back(&node);
    if (node.end == Node::End::none) continue;
    steps[node.removed].at = node.removed_at;
    steps[node.removed].gone.push_back(&node);
  }
  std::vector<Moment<Leading>> moments{{}};
  std::set<std::pair<std::int32_t, Leading>> queue;
  for (const auto& [zxid, step] : steps) {
    for (const Node* each : step.made) queue.emplace(each->place.sequence, each->created);
    for (const Node* each : step.gone) queue.erase({each->place.sequence, each->created});
    const Leading leading = queue.empty() ? 0 : queue.begin()->second;
    if (leading != moments.back().state) moments.push_back({step.at, leading});
  }
  return moments;
}

std::vector<Violation> find_misshown_leaders(const Evidence& evidence) {
  std::vector<Violation> found;
  const auto strayed = times_of_strayed_servers(evidence);
  for (const Following& each : followings_of(evidence, Event::follows, Event::unfollows)) {
    if (!each.path.starts_with(locks)) continue;
    const auto add = [&](const std::string& what, std::int64_t at) {
      found.push_back({"of an election " + what + ": " + each.path, {}, each.process, 0, at, each.path});
    };
    std::vector<Moment<Leading>> shown;
    for (const Record& record : each.records)
      if (record.event == Event::shows) shown.push_back({record.at, record.token});
    const Interval unknown{each.when.begin, shown.empty() ? each.when.end : shown.front().at};
    if (evidence.is_too_long(each.process, unknown)) add("nothing was shown for too long", unknown.end);
    const auto truth = moments_of_leaders(evidence.history, each.path);
    if (const auto wrong = find_misshown(evidence, each.process, truth, shown, strayed, each.when.end))
      add(wrong->what, wrong->at);
  }
  return found;
}

/// What a client gives up by itself it has lost, and has trusted no more by then; and in quiet times it loses nothing.
/// Kept locks are given back without a server.
std::vector<Violation> find_early_ends(const Evidence& evidence) {
  std::vector<Violation> found;
  std::map<std::int64_t, std::int64_t> trusted_until;
  for (const Record& each : evidence.users)
    if (each.event == Event::trusts && each.token != 0)
      trusted_until[each.token] = std::max(trusted_until[each.token], each.number);
  for (const auto& [token, hold] : evidence.holds) {
    const Node* node = evidence.history.find(token);
    if (!node || node->end != Node::End::by_owner || is_kept(node->directory)) continue;
    if (hold.releasing_at == 0 || node->removed_at + evidence.bounds.clocks.count() >= hold.releasing_at) continue;
    const int process = hold.granted.process;
    const Interval before{node->removed_at - evidence.bounds.session_timeout.count(), node->removed_at};
    const auto trust = trusted_until.find(token);
    const bool was_trusted =
        trust != trusted_until.end() && trust->second > node->removed_at + evidence.bounds.clocks.count();
    if (was_trusted || (evidence.is_quiet(before, process) && !evidence.lost_link(process, before)))
      found.push_back({"a node was deleted by its session before its holder gave it up",
                       {token},
                       process,
                       hold.granted.operation,
                       node->removed_at});
  }
  return found;
}

}  // namespace

std::vector<Violation> check_leaders(const Evidence& evidence) {
  std::vector<Violation> found = find_misshown_leaders(evidence);
  std::ranges::move(find_early_ends(evidence), std::back_inserter(found));
  return found;
}

}  // namespace zklock::chaos
