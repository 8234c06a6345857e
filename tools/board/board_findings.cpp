#include "board_findings.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace zklock::tools {
namespace {

/// The wait queues of `now`, reduced to the nodes that `before` has, too.
std::vector<WaitQueue> in_both(const Survey& before, const Survey& now) {
  std::unordered_set<std::string_view> old;
  for (const LockDirectory& directory : before.directories)
    for (const WaitQueue& queue : directory.queues)
      for (const LockParticipant& one : queue) old.insert(one.node_path);
  std::vector<WaitQueue> result;
  for (const LockDirectory& directory : now.directories)
    for (WaitQueue queue : directory.queues) {
      std::erase_if(queue, [&](const LockParticipant& one) { return !old.contains(one.node_path); });
      if (!queue.empty()) result.push_back(std::move(queue));
    }
  return result;
}

void append(std::vector<Finding>& all, std::vector<Finding> more) { std::ranges::move(more, std::back_inserter(all)); }

}  // namespace

std::vector<Finding> find_all(const Survey& before, const Survey& now, const Watched& watched) {
  const std::vector<WaitQueue> still_there = in_both(before, now);
  std::vector<Finding> all = find_circles(still_there);
  append(all, find_stuck(before, still_there, watched));
  for (const LockDirectory& directory : now.directories) append(all, find_oddities(directory));
  append(all, find_gaps(now));
  std::ranges::stable_sort(all, {}, &Finding::severity);
  return all;
}

}  // namespace zklock::tools
