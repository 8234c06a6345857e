#include "board_findings.hpp"

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

}  // namespace

std::vector<Finding> find_all(const Survey& before, const Survey& now, const Watched& watched) {
  return find_all(before, in_both(before, now), now, watched);
}

}  // namespace zklock::tools
