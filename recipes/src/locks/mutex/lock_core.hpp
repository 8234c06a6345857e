// The state that the locks of one client on one path share.
#pragma once

#include "held_lock.hpp"
#include "kept_lock.hpp"
#include "kept_readers.hpp"
#include "lock_target.hpp"
#include "path_use.hpp"

#include <zklock/client.hpp>
#include <zklock/recipe_kit/async_event.hpp>
#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/locks/lock_kind.hpp>
#include <zklock/recipes/locks/lock_node.hpp>
#include <zklock/recipes/locks/owner.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zklock::detail {

/// Views of one client with different namespaces are kept apart: the paths of their leases differ.
[[nodiscard]] inline std::string shared_state_key(const ClientHandle& client, const std::string& path,
                                                  LockNaming naming) {
  return (naming == LockNaming::kazoo ? "kazoo " : "curator ") + client.server_path(path) + ' ' + path;
}

/// The owners of this client that hold the lock on the path, and the kind of lock of each. Lives as long as a lock
/// object or a held lock does.
///
/// Threads: the functions marked so, any; the others on the client's executor.
class LockCore : public LockTarget {
 public:
  LockCore(const ClientHandle& client, std::string path, LockNaming naming);
  ~LockCore() override { delete kept_.load(); }
  /// Finds or makes that of the client, the path and the names; `path` is valid.
  static std::shared_ptr<LockCore> of(const ClientHandle& client, const std::string& path,
                                      LockNaming naming = LockNaming::curator);

  // any thread
  void on_end_of(Owner owner, LockKind kind) override;
  [[nodiscard]] std::vector<std::shared_ptr<HeldLock>> holders_of(const ClientNode& node) const override;
  /// The lock that the owner holds, lost or not; null: none.
  [[nodiscard]] std::shared_ptr<HeldLock> held_by(Owner owner, LockKind kind) const;
  /// An owner holds it and has not lost it.
  [[nodiscard]] bool is_held(LockKind kind) const;

  /// The share of the path's use that an acquire takes first, and keeps until its node's delete is sent. Gives
  /// LockError::mixed_lock_kinds while the client waits for a lock of the other kind there, or holds one. Null under
  /// Kazoo's names, under which mutexes and writers do exclude each other. If the client keeps a node there that is of
  /// no use for the acquire, or readers' nodes and the acquire is no reader's, it gives them up. The client's executor.
  [[nodiscard]] Result<PathShare> use_as(LockKind kind, const KeepSettings& how);
  /// The client's own nodes in the wait queue. The client's executor.
  [[nodiscard]] const std::shared_ptr<LocalQueue>& local_queue() const noexcept { return local_queue_; }
  /// What the lock objects that keep the lock share; null: there was none yet. Any thread.
  [[nodiscard]] KeptLock* kept() const noexcept { return kept_; }
  /// The same; makes it if it is missing. The client's executor.
  [[nodiscard]] KeptLock& keep();
  /// The node that the client keeps for its readers. Any thread.
  [[nodiscard]] KeptReaders& readers() noexcept { return readers_; }
  void add(const std::shared_ptr<HeldLock>& held_lock) override;
  /// The same for a reader by the kept node; false: its owner holds the read lock or the write lock already, or may
  /// have an acquire in progress. Any thread.
  [[nodiscard]] bool add_reader(const std::shared_ptr<HeldLock>& held_lock);

  /// The one acquire that an owner has under way for a kind of lock: a second acquire waits for its end, and may then
  /// enter again.
  class AcquireInProgress {
   public:
    /// The acquire gives up when `cancellation` says so, though that may take a moment.
    AcquireInProgress(LockCore& core, Owner owner, LockKind kind, const asio::cancellation_state& cancellation);
    ~AcquireInProgress();
    AcquireInProgress(const AcquireInProgress&) = delete;
    AcquireInProgress& operator=(const AcquireInProgress&) = delete;

   private:
    LockCore& core_;
    std::pair<Owner, LockKind> key_;
  };
  struct InProgress {
    std::shared_ptr<AsyncEvent> end{};  ///< null until another acquire waits for it
    asio::cancellation_state cancellation;

    [[nodiscard]] bool is_given_up() const { return cancellation.cancelled() != asio::cancellation_type::none; }
  };
  /// The acquire of the owner that is in progress, for this kind or the other half of a read and write lock; null:
  /// there is none. The pointer is valid until the caller suspends.
  [[nodiscard]] InProgress* in_progress(Owner owner, LockKind kind);
  /// Happens when that acquire ends.
  [[nodiscard]] std::shared_ptr<AsyncEvent> end_of(InProgress& acquire) const;

 private:
  /// A writer comes: they let nobody in any more. The client's executor.
  void ask_readers();

  using Key = std::pair<Owner, LockKind>;

  std::shared_ptr<PathUse> use_;          // null until the first acquire, and under Kazoo's names
  std::atomic<KeptLock*> kept_{nullptr};  // owned
  KeptReaders readers_;
  std::shared_ptr<LocalQueue> local_queue_;
  mutable std::mutex mutex_;
  std::map<Key, std::weak_ptr<HeldLock>> held_;
  int number_in_progress_ = 0;  // of acquires; with the mutex
  std::map<Key, InProgress> in_progress_;
};

}  // namespace zklock::detail
