// A fair, distributed mutex.
#pragma once

#include <zklock/client.hpp>
#include <zklock/clock.hpp>
#include <zklock/recipes/locks/blocking_lock.hpp>
#include <zklock/recipes/locks/lease.hpp>
#include <zklock/recipes/locks/lock_kind.hpp>
#include <zklock/recipes/locks/lock_settings.hpp>
#include <zklock/recipes/locks/owner.hpp>
#include <zklock/recipes/locks/participant.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zklock {

namespace detail {

class LockSet;
class ThreadLeases;
const ClientHandle& home_of(const ThreadLeases& lock);

/// In src/locks/mutex/acquire.cpp.
void start_acquire(std::shared_ptr<ThreadLeases> lock, LockKind kind, Owner owner, WaitPolicy wait, LockSettings how,
                   Handler<Lease> handler);
/// Lists the wait queue of the kind `queue`: the nodes of one kind, or all.
void start_participants(std::shared_ptr<ThreadLeases> lock, LockKind queue, std::optional<LockKind> only,
                        Handler<std::vector<LockParticipant>> handler);

}  // namespace detail

/// A mutual exclusion among all processes that use the same path: first come, first served, in ZooKeeper's order.
/// Curator's InterProcessMutex; it excludes Curator's on the same path.
///
/// The owner of the lock may enter it again, by any object of the same Client on the same path, without a request to
/// the server: n acquires need n releases. For blocking calls the owner is the thread. An async_acquire without an
/// Owner makes a new owner, and only its Lease belongs to that owner. Usable as a TimedLockable: std::unique_lock,
/// std::scoped_lock.
///
/// It is a handle: it may be destroyed before its leases and operations end. When the last object of a Client on a path
/// is destroyed, it releases what threads hold there.
/// Threads: any thread may call anything but the destructor.
class InterProcessMutex : public BlockingLock<InterProcessMutex> {
 public:
  /// `path` is the lock's directory; it is created, as container nodes, when it is first needed. With Kazoo's names the
  /// lock shares its wait queue with Kazoo's unmodified Lock, and not with clients that use Curator's names; the
  /// directory is a persistent node. Throws boost::system::system_error: LockError::invalid_lock_path.
  InterProcessMutex(const ClientHandle& client, std::string path, LockNaming naming = LockNaming::curator)
      : InterProcessMutex{client, std::move(path), LockSettings{.naming = naming}} {}
  /// As above; and the client may keep the lock when it is released (docs/locks.md, "Keeping a lock").
  ///
  ///   InterProcessMutex mutex{client, "/locks/orders", {.keep = 2s}};
  InterProcessMutex(const ClientHandle& client, std::string path, LockSettings settings);
  /// A temporary Client would be closed at once.
  template <class... Rest>
  InterProcessMutex(Client&&, Rest&&...) = delete;
  InterProcessMutex(const InterProcessMutex&) = delete;
  InterProcessMutex& operator=(const InterProcessMutex&) = delete;
  InterProcessMutex(InterProcessMutex&&) noexcept = default;
  InterProcessMutex& operator=(InterProcessMutex&&) noexcept = default;
  ~InterProcessMutex() = default;

  [[nodiscard]] const std::string& path() const noexcept;

  /// Waits in the queue for the lock and completes with a Lease that holds it.
  ///
  /// Signature     void(error_code, Lease)
  /// Completes     when every contender ahead in the queue is gone. The operation survives a lost link. If the session
  ///               is lost, so is the queue position, and the attempt starts over, as often as the client's retry
  ///               policy allows.
  /// Errors        Error::not_connected (no connection within the client's connection_timeout), Error::connection_loss,
  ///               Error::session_expired (too often), Error::auth_failed, Error::no_auth, Error::closed,
  ///               Error::closing, LockError::sequence_exhausted, Error::no_node (the directory is deleted again and
  ///               again), Error::no_children_for_ephemerals (the path is an ephemeral node), LockError::lock_lost (the
  ///               owner has lost the lock and has not released all of its acquires), LockError::too_many_reentries,
  ///               Error::would_deadlock (see InterProcessReadWriteLock), LockError::mixed_lock_kinds (this Client has
  ///               a lock of the other kind on the path, or waits for one), Error::too_many_watches (the session has
  ///               reached the limit), Error::quota_exceeded, Error::protocol_error (malformed reply),
  ///               operation_aborted
  /// Cancellation  terminal, partial, total: all leave no trace.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, Lease)> Token = asio::deferred_t>
  auto async_acquire(Token&& token = {}) const {
    return initiate_acquire(Owner::make(), detail::WaitPolicy{}, std::forward<Token>(token));
  }
  /// As above, for an owner that may already hold the lock; the operation then enters it again at once.
  ///
  /// Signature     void(error_code, Lease)
  template <asio::completion_token_for<void(error_code, Lease)> Token = asio::deferred_t>
  auto async_acquire(Owner owner, Token&& token = {}) const {
    return initiate_acquire(owner, detail::WaitPolicy{}, std::forward<Token>(token));
  }

  /// As above, for at most `wait` in all. Zero or less: one try, without waiting in the queue. A try waits for
  /// ZooKeeper, at most for the client's connection_timeout: set that, or give a short `wait`, to bound it.
  ///
  /// Signature     void(error_code, Lease)
  /// Errors        besides the above Error::timed_out: others had the lock. Error::not_connected, if there was no
  ///               connection for all of the time. A lock not acquired leaves no trace.
  template <class Rep, class Period, asio::completion_token_for<void(error_code, Lease)> Token = asio::deferred_t>
  auto async_acquire(std::chrono::duration<Rep, Period> wait, Token&& token = {}) const {
    return initiate_acquire(Owner::make(), detail::WaitPolicy::of(wait), std::forward<Token>(token));
  }
  /// As above, for an owner that may already hold it.
  ///
  /// Signature     void(error_code, Lease)
  template <class Rep, class Period, asio::completion_token_for<void(error_code, Lease)> Token = asio::deferred_t>
  auto async_acquire(Owner owner, std::chrono::duration<Rep, Period> wait, Token&& token = {}) const {
    return initiate_acquire(owner, detail::WaitPolicy::of(wait), std::forward<Token>(token));
  }

  /// Lists the holders of the lock and the waiters, in the order of the queue.
  ///
  /// Signature     void(error_code, std::vector<LockParticipant>)
  /// Completes     when the nodes that were listed have been read; a node that is deleted in between is left out. Lost
  ///               links and sessions are survived as often as the client's retry policy allows.
  /// Errors        Error::timed_out (not done within the client's operation_timeout), Error::not_connected (no
  ///               connection within its connection_timeout), Error::connection_loss, Error::session_expired and
  ///               Error::operation_timeout (too often), Error::auth_failed, Error::no_auth, Error::closed,
  ///               Error::closing, operation_aborted; a path that does not exist gives an empty list
  /// Cancellation  terminal, partial, total.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, std::vector<LockParticipant>)> Token = asio::deferred_t>
  auto async_participants(Token&& token = {}) const {
    return detail::initiate<void(error_code, std::vector<LockParticipant>), &detail::start_participants>(
        std::forward<Token>(token), lock_, kind_, std::optional{kind_});
  }
  /// As above, but blocks. Throws boost::system::system_error: the errors of async_participants;
  /// Error::blocking_in_handler where the client's own work would have to wait for this call;
  /// Error::executor_not_running.
  [[nodiscard]] std::vector<LockParticipant> participants() const;

  // The blocking calls of BlockingLock are those of the calling thread, which acquires several times over and releases
  // as often. They throw boost::system::system_error: the errors of async_acquire; LockError::lock_lost if this thread
  // held the lock and has not released it since it was lost, and from release() if it was lost meanwhile;
  // LockError::not_owner from release() if this thread holds nothing; Error::blocking_in_handler where the client's own
  // work would have to wait for the call; Error::executor_not_running if nothing runs the executor that the client was
  // given: for the client's connection_timeout, or for a second when the time is up.

  /// As release, but does not wait: the last one sends the delete. Throws LockError::not_owner only.
  void unlock();

  /// As Lease::async_wait_lost, for what the calling thread holds. Throws LockError::not_owner if it holds nothing.
  ///
  /// Signature     void(error_code)
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_wait_lost(Token&& token = {}) const {
    return detail::initiate<void(error_code), &detail::start_wait_lost>(std::forward<Token>(token), held());
  }
  /// As Lease::async_wait_revocation, for what the calling thread holds. Throws LockError::not_owner if it holds
  /// nothing.
  ///
  /// Signature     void(error_code)
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_wait_revocation(Token&& token = {}) const {
    return detail::initiate<void(error_code), &detail::start_wait_revocation>(std::forward<Token>(token), held());
  }
  /// As Lease::extend, for what the calling thread holds. Throws LockError::not_owner if it holds nothing.
  template <class Rep, class Period>
  [[nodiscard]] bool extend(std::chrono::duration<Rep, Period> hold) const {
    return detail::extend(held(), after(hold));
  }
  /// As Lease::guard, for what the calling thread holds. Throws LockError::not_owner if it holds nothing.
  [[nodiscard]] Transaction guard() const;
  /// As Lease::valid_until, for what the calling thread holds; time_point{} if this thread holds nothing.
  [[nodiscard]] Clock::time_point valid_until() const;

  /// An owner holds the lock by this Client and has not lost it.
  [[nodiscard]] bool is_acquired_in_this_process() const;
  [[nodiscard]] bool is_owned_by_current_thread() const;
  /// The token of the lock that this thread holds; 0 if it holds none.
  [[nodiscard]] std::int64_t fencing_token() const;

 private:
  friend class InterProcessReadWriteLock;
  friend class detail::LockSet;
  InterProcessMutex(std::shared_ptr<detail::ThreadLeases> lock, LockKind kind, LockSettings settings) noexcept
      : lock_{std::move(lock)}, kind_{kind}, settings_{settings} {}

  template <class Token>
  auto initiate_acquire(Owner owner, detail::WaitPolicy wait, Token&& token) const {
    return detail::initiate<void(error_code, Lease), &detail::start_acquire>(std::forward<Token>(token), lock_, kind_,
                                                                             owner, wait, settings_);
  }
  friend class BlockingLock<InterProcessMutex>;
  bool acquire_within(detail::WaitPolicy wait);
  bool release_within(Deadline deadline);
  /// What the calling thread holds; throws LockError::not_owner.
  [[nodiscard]] std::shared_ptr<detail::LeaseShare> held() const;

  std::shared_ptr<detail::ThreadLeases> lock_;
  LockKind kind_ = LockKind::mutex;
  LockSettings settings_{};
};

}  // namespace zklock
