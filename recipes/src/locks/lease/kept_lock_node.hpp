// A node that its client may keep when the lock is released: it is granted to one local acquire after the other.
#pragma once

#include "kept_lock.hpp"
#include "watched_node.hpp"

#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/locks/lock_kind.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::detail {

/// Any other node in the queue asks for it.
///
/// Threads: the functions marked so, any; the others on the session's executor.
class KeptLockNode : public WatchedNode {
 public:
  /// What an acquire has found that is alone in the queue: the list with which it set the watch shows only its node.
  using Alone = ListWatch;

  /// `lock` owns `kept_lock`.
  [[nodiscard]] static std::shared_ptr<KeptLockNode> make(std::shared_ptr<LockTarget> lock, KeptLock& kept_lock,
                                                          LockKind kind, Clock::duration keep, NodePlace place,
                                                          Alone alone);
  KeptLockNode(std::shared_ptr<LockTarget> lock, KeptLock& kept_lock, LockKind kind, Clock::duration keep,
               NodePlace place, Alone alone);

  // ---- any thread

  [[nodiscard]] LockKind kind() const noexcept { return kind_; }
  [[nodiscard]] std::int64_t token() const noexcept { return token_; }
  [[nodiscard]] std::int32_t version() const noexcept { return version_; }

  /// That lease has it now.
  void hold(const std::shared_ptr<HeldLock>& held_lock);
  /// The lease has ended: the node is kept, or given to the next acquire. True: neither, and remove() is to be called.
  [[nodiscard]] bool take_back(const HeldLock& held_lock) override;
  /// The same, where the acquire that was let in makes no lease; the node is deleted.
  void take_back_unused(bool may_keep);
  void ask() override { ask(KeptLock::Cause::other); }

  // ---- the session's executor

  /// Whether it may be granted to the acquire that has taken it. Asks the server if it is to be confirmed, if another
  /// client has asked for it, or if the session is not certain to live for long.
  [[nodiscard]] static Awaitable<bool> prove(std::shared_ptr<KeptLockNode> self, KeepSettings how);

 private:
  [[nodiscard]] static Awaitable<bool> prove_wanted(std::shared_ptr<KeptLockNode> self, Keeping keeping);
  [[nodiscard]] static Awaitable<bool> prove_asked(std::shared_ptr<KeptLockNode> self, int max_handoffs);
  [[nodiscard]] std::vector<std::shared_ptr<HeldLock>> holders() const override;
  [[nodiscard]] bool is_held() const override;
  void ask(KeptLock::Cause cause);
  void on_event(error_code error, const WatchEvent& event) override;
  void on_event(KeptLock::Cause cause);
  void on_children(error_code error, const std::vector<std::string>& children, Watch watch) override;

  KeptLock& kept_lock_;
  LockKind kind_;
  std::atomic<std::int64_t> token_;
  std::atomic<std::int32_t> version_{0};

  mutable std::mutex mutex_;
  std::weak_ptr<HeldLock> holder_;
};

/// Of the children that wait in the queue, `own` is the only one.
[[nodiscard]] bool is_only_one(const std::vector<std::string>& children, std::string_view own, LockKind kind,
                               LockNaming naming);

}  // namespace zklock::detail
