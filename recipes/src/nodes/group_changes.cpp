#include "group_changes.hpp"

#include <utility>

namespace zklock {

std::optional<GroupChange> next_change(MemberMap& known, const MemberMap& now) {
  for (auto old = known.begin(); old != known.end(); ++old) {
    const auto found = now.find(old->first);
    if (found != now.end() && found->second.czxid == old->second.czxid) continue;
    GroupChange left{GroupChangeKind::left, old->first, std::move(old->second)};
    known.erase(old);
    return left;
  }
  for (const auto& [id, member] : now) {
    const auto [old, is_new] = known.try_emplace(id, member);
    if (is_new) return GroupChange{GroupChangeKind::joined, id, member};
    if (old->second == member) continue;
    old->second = member;
    return GroupChange{GroupChangeKind::changed, id, member};
  }
  return std::nullopt;
}

}  // namespace zklock
