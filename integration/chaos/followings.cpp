#include "followings.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

namespace zklock::chaos {

bool is_at_or_below(std::string_view path, std::string_view root) {
  return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

const Record* Following::first(Event event) const {
  const auto found = std::ranges::find(records, event, &Record::event);
  return found == records.end() ? nullptr : &*found;
}

const Record* Following::last(Event event) const {
  const auto found =
      std::find_if(records.rbegin(), records.rend(), [&](const Record& each) { return each.event == event; });
  return found == records.rend() ? nullptr : &*found;
}

std::vector<Following> followings_of(const Evidence& evidence, Event begin, Event end) {
  std::vector<Following> all;
  std::map<int, std::map<std::string, std::size_t>> open;
  std::map<int, std::int64_t> last;
  for (const Record& each : evidence.follows) {
    last[each.process] = each.at;
    auto& mine = open[each.process];
    if (each.event == begin) {
      for (Following& other : all)
        if (other.process == each.process && other.path == each.lock) other.is_last = false;
      mine[each.lock] = all.size();
      all.push_back({each.process, each.lock, {each.at}});
      continue;
    }
    for (const auto& [path, which] : mine)
      if (is_at_or_below(each.lock, path)) all[which].records.push_back(each);
    if (each.event != end) continue;
    if (const auto ended = mine.find(each.lock); ended != mine.end()) {
      all[ended->second].when.end = each.at;
      mine.erase(ended);
    }
  }
  for (Following& each : all)
    each.when.end = std::min({each.when.end, last[each.process], evidence.killed_at(each.process)});
  return all;
}

std::vector<Interval> times_of_stale_servers(const Evidence& evidence) {
  constexpr std::int64_t stale_for = 4'000'000;
  constexpr std::array<std::string_view, 3> kinds{"server_cut_off", "server_paused", "leader_paused"};
  std::vector<Interval> all;
  std::map<std::pair<std::string, std::int64_t>, std::size_t> under_way;
  for (const Record& each : evidence.faults) {
    if (std::ranges::find(kinds, each.reason) == kinds.end()) continue;
    if (each.event == Event::fault) {
      under_way[{each.reason, each.number}] = all.size();
      all.push_back({each.at});
    } else if (const auto begun = under_way.extract({each.reason, each.number}); each.event == Event::healed && begun) {
      all[begun.mapped()].end = each.at + stale_for;
    }
  }
  std::ranges::move(times_of_strayed_servers(evidence), std::back_inserter(all));
  return all;
}

std::vector<Interval> times_of_strayed_servers(const Evidence& evidence) {
  constexpr std::string_view strayed = "server_strayed";
  std::vector<Interval> all;
  std::int64_t last_fault = 0;  // of a server
  for (const Record& each : evidence.faults) {
    const bool is_of_server = each.reason.starts_with("server_") || each.reason.starts_with("leader_") ||
                              each.reason.starts_with("majority_");
    if (each.event == Event::fault && each.reason == strayed) all.push_back({last_fault});
    if (each.event == Event::healed && each.reason == strayed && !all.empty())
      all.back().end = each.at + evidence.bounds.session_timeout.count();
    if (each.event == Event::fault && is_of_server && each.reason != strayed) last_fault = each.at;
  }
  return all;
}

}  // namespace zklock::chaos
