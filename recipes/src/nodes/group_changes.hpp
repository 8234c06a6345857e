// The difference between the members that a reader knows and those there are.
#pragma once

#include <zklock/recipes/nodes/group.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace zklock {

using MemberMap = std::map<std::string, Member>;

/// The first difference, which is then known; members that left come first. Empty: there is none. A member of another
/// czxid has left and joined.
[[nodiscard]] std::optional<GroupChange> next_change(MemberMap& known, const MemberMap& now);

/// What a reader of changes has not read; for EventQueue. Threads: one at a time.
class UnreadChanges {
 public:
  /// These are the members from now on.
  void push(std::shared_ptr<const MemberMap> members) { now_ = std::move(members); }
  [[nodiscard]] GroupChange pop() { return next_change(known_, *now_).value_or(GroupChange{}); }
  void clear() { known_ = *now_; }
  [[nodiscard]] bool empty() const { return known_ == *now_; }

 private:
  MemberMap known_;
  std::shared_ptr<const MemberMap> now_ = std::make_shared<const MemberMap>();
};

}  // namespace zklock
