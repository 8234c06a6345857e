#include "followings.hpp"

#include <algorithm>
#include <map>

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

}  // namespace zklock::chaos
