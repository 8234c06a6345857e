// The difference between the members that a reader knows and those there are.
#pragma once

#include <zklock/recipe_kit/recipe_core.hpp>
#include <zklock/recipes/nodes/group.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace zklock {

using MemberMap = std::map<std::string, Member>;

/// The first difference, which is then known; members that left come first. Empty: there is none. A member of another
/// czxid has left and joined.
[[nodiscard]] std::optional<GroupChange> next_change(MemberMap& known, const MemberMap& now);

namespace detail {

/// What a reader of changes knows.
///
/// Threads: any; it has a mutex, which is never held while a handler runs.
class GroupChangeQueue : public RecipeCore {
 public:
  explicit GroupChangeQueue(const RecipeCore& recipe) : RecipeCore{recipe} {}

  /// These are the members from now on.
  void show(std::shared_ptr<const MemberMap> members);
  /// No others will follow.
  void end();
  void wait(Handler<GroupChange> handler);
  void cancel();

 private:
  using Lock = std::unique_lock<std::mutex>;

  /// Completes the wait, if there is one and something to tell.
  void serve(Lock lock);
  void deliver(Handler<GroupChange> handler, error_code error, GroupChange change) const;

  std::mutex mutex_;
  MemberMap known_;
  std::shared_ptr<const MemberMap> now_ = std::make_shared<const MemberMap>();
  bool ended_ = false;
  std::optional<Handler<GroupChange>> waiter_;
};

}  // namespace detail
}  // namespace zklock
