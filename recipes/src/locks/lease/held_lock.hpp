// A held lock: leases, and the threads that hold it by blocking calls, refer to it.
#pragma once

#include "client_node.hpp"
#include "granted.hpp"
#include "kept_lock.hpp"
#include "lock_events.hpp"
#include "lock_target.hpp"
#include "node_place.hpp"
#include "path_use.hpp"
#include "reentry_count.hpp"

#include <zklock/detail/weak_list.hpp>
#include <zklock/recipe_kit/async_event.hpp>
#include <zklock/recipe_kit/protected_path.hpp>
#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/locks/lease.hpp>
#include <zklock/recipes/locks/owner.hpp>
#include <zklock/session.hpp>
#include <zklock/session_renewal.hpp>
#include <zklock/timer.hpp>
#include <zklock/transaction.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zklock::detail {

class KeptLockNode;
class KeptReaderNode;

/// The lease's node, and how many times its owner has entered the lock by it.
///
/// Threads: the functions marked so, any; the others on the session's executor.
class HeldLock : public std::enable_shared_from_this<HeldLock>, public LapseListener, public NodeHolder {
 public:
  using Entered = ReentryCount::Entered;

  /// The owner holds what its attempt was granted. Adds it to `lock`, which is told when the owner has released all of
  /// its acquires. The held lock keeps session validity ahead, and is notified when that fails.
  [[nodiscard]] static std::shared_ptr<HeldLock> make(const std::shared_ptr<LockTarget>& lock, Owner owner,
                                                      LockKind kind, Granted granted, LockAttempt& told);
  /// The same by a kept node, which outlives the held lock: it may be given to another owner later. Any thread.
  [[nodiscard]] static std::shared_ptr<HeldLock> make_on(std::shared_ptr<KeptLockNode> kept, Owner owner,
                                                         const KeepSettings& how, std::uint64_t attempt);
  /// The same by a node that serves several readers at once. The owner has entered it. Any thread.
  [[nodiscard]] static std::shared_ptr<HeldLock> make_beside(std::shared_ptr<KeptReaderNode> kept, Owner owner,
                                                             const KeepSettings& how, std::uint64_t attempt);
  /// For these functions alone.
  HeldLock(std::shared_ptr<LockTarget> lock, Owner owner, LockKind kind, Session session, CreateResult node,
           std::uint64_t attempt);
  ~HeldLock() override;
  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;

  // any thread
  [[nodiscard]] LeaseState state() const noexcept;
  /// The session is over, session validity or the longest hold has passed, or the node is gone. Once true, it stays
  /// true.
  [[nodiscard]] bool is_lost() const noexcept;
  /// Why it is lost.
  [[nodiscard]] std::string_view cause_of_loss() const noexcept { return name_of(loss_); }
  /// Unless the session ends or the node is deleted.
  [[nodiscard]] Clock::time_point valid_until() const noexcept;
  /// Puts the end of the longest hold off to then, if it is earlier. False: it is lost.
  [[nodiscard]] bool extend(Clock::time_point until) noexcept;
  /// A client has asked for the lock: the node's data is __REVOKE__.
  [[nodiscard]] bool is_revoked() const noexcept { return revoked_; }
  [[nodiscard]] const Session& session() const noexcept { return place_.session(); }
  [[nodiscard]] Owner owner() const noexcept { return owner_; }
  /// It is held by that node.
  [[nodiscard]] bool is_on(const ClientNode& kept) const noexcept { return kept_.get() == &kept; }
  [[nodiscard]] LockKind kind() const noexcept { return kind_; }
  [[nodiscard]] const CreateResult& node() const noexcept { return place_.node(); }
  [[nodiscard]] std::int64_t fencing_token() const noexcept { return token_; }
  [[nodiscard]] Clock::time_point granted_at() const noexcept { return granted_at_; }
  [[nodiscard]] std::uint32_t count() const noexcept { return count_.value(); }
  /// Enters once more; `by` is an attempt that waited for it, or null.
  [[nodiscard]] Entered enter(LockAttempt* by = nullptr);
  /// Leaves once. True: that was the last time, the client neither keeps the node nor has deleted it at the end of the
  /// longest hold, and remove() is to be called.
  [[nodiscard]] bool leave();
  /// Deletes the node, and hands the lock off to local waiters, which do not wait for the reply. `removed` is told once
  /// what came of the delete, as by remove_in_background(), on the session's executor, and not within this call.
  void remove(std::function<void(error_code)> removed = nullptr);
  /// Asks the server whether the node exists; if it does not, the lock is lost.
  void ask_server();
  /// The node was found to be gone.
  void lose();
  /// The version of the node's data that guards are to check.
  [[nodiscard]] std::int32_t guarded_version() const noexcept { return guarded_version_; }
  /// Takes note of the node's data, which was read.
  void on_data(const DataResult& node);
  /// Wakes the waiting operations: something has changed. Changes are noted before, and operations open their events
  /// before they look, so none is missed.
  void wake();
  /// An event that happens with each wake().
  [[nodiscard]] std::shared_ptr<AsyncEvent> open_event();

 private:
  enum class Loss : std::uint8_t {
    none,
    session_expired,
    validity_passed,
    max_hold_passed,
    node_deleted,
    auth_failed,
    closed
  };
  [[nodiscard]] static Loss loss_of(const Session& session) noexcept;
  [[nodiscard]] static std::string_view name_of(Loss loss) noexcept;

  void on_lapse() override;
  void on_link(SessionState state) override;
  void on_node_deleted() override { lose(); }
  void act_on(HandoffAction action) override;
  /// Logs once that the grant has ended, as lost or as released.
  void conclude() noexcept;
  /// The longest hold begins now; zero or less: none.
  void limit(Clock::duration max_hold);
  void await_limit();
  void on_limit();
  [[nodiscard]] bool is_over_limit(Clock::time_point now) const noexcept;
  /// The caller has to give the node back. True: the client does not keep it, and remove() is to be called.
  [[nodiscard]] bool end_node();
  /// The first loss is the one that counts.
  void note(Loss loss) const noexcept;
  [[nodiscard]] LockEvent event(LockPhase phase) const noexcept;
  static Awaitable<void> ask_server_again(std::weak_ptr<HeldLock> weak, Session session);
  void count_has_changed();
  static Awaitable<void> write_count(std::shared_ptr<HeldLock> self);
  [[nodiscard]] static Awaitable<error_code> write(std::shared_ptr<HeldLock> self, std::uint32_t count);

  std::shared_ptr<LockTarget> lock_;
  Owner owner_;
  LockKind kind_;
  std::uint64_t attempt_;
  NodePlace place_;  // if the node is a kept one, only its names
  std::shared_ptr<ClientNode> kept_;
  KeptLock::Front front_;
  std::atomic<std::int32_t> guarded_version_{any_version};
  std::int64_t token_;  // may change only before the held lock is shared
  Clock::time_point granted_at_ = Clock::now();
  std::optional<SessionRenewal> renewal_;
  ReentryCount count_;  // the authoritative count
  static constexpr Clock::rep limit_passed = std::numeric_limits<Clock::rep>::min();
  mutable std::atomic<Clock::rep> limit_{std::numeric_limits<Clock::rep>::max()};  // since the epoch of Clock
  std::weak_ptr<Timer> limit_timer_;  // the wait for it owns it: a lease may outlive its client's executor
  std::atomic<bool> node_ended_{false};
  mutable std::atomic<Loss> loss_{Loss::none};
  std::atomic<bool> concluded_{false};
  std::atomic<bool> revoked_{false};
  bool is_suspect_ = false;              // as it was told
  std::atomic<bool> is_awaited_{false};  // an event was opened
  detail::WeakList<AsyncEvent> events_;

  std::atomic<bool> writing_{false};
  std::uint32_t written_ = 1;  // what the node's data says; used by the running write
  std::int32_t version_ = 0;   // and the data's version
};

/// One acquire's share of a held lock.
///
/// Threads: any.
class LeaseShare {
 public:
  explicit LeaseShare(std::shared_ptr<HeldLock> held_lock) noexcept : held_lock_{std::move(held_lock)} {}

  [[nodiscard]] HeldLock& held_lock() const noexcept { return *held_lock_; }
  [[nodiscard]] const std::shared_ptr<HeldLock>& shared_held_lock() const noexcept { return held_lock_; }
  [[nodiscard]] LeaseState state() const noexcept;
  [[nodiscard]] Clock::time_point valid_until() const noexcept;
  [[nodiscard]] Transaction guard() const;
  /// True for the caller that ends it, and only once.
  [[nodiscard]] bool end();

 private:
  std::shared_ptr<HeldLock> held_lock_;
  std::atomic<bool> released_{false};
};

}  // namespace zklock::detail
