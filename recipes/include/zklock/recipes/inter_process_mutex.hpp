// A fair, distributed mutex.
#pragma once

#include <zklock/client.hpp>
#include <zklock/clock.hpp>
#include <zklock/recipes/lease.hpp>
#include <zklock/recipes/lock_kind.hpp>
#include <zklock/recipes/owner.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zklock {

/// One who holds a lock, or waits for it.
struct Participant {
  std::string node_path;
  LockKind kind = LockKind::mutex;
  std::int32_t sequence = 0;
  std::string client_id;    ///< empty if the node's data are not zklock's, a JVM's for one
  std::uint32_t count = 0;  ///< how many times over it is held; 0 as above
  std::int64_t session_id = 0;
  std::int64_t fencing_token = 0;  ///< the node's czxid; of a writer who goes on as a reader the Lease has the writer's
  std::chrono::system_clock::time_point since;  ///< on the server's clock
  bool revocation_requested = false;            ///< async_attempt_revoke, or Curator's Revoker; hides id and count
};

namespace detail {

class LockSet;
class ThreadHolds;
asio::any_io_executor serial_executor(const ThreadHolds& lock);
asio::any_io_executor callback_executor(const ThreadHolds& lock);
void refuse_after_fork(const ThreadHolds& lock);

/// How long to wait in line. Trivial: it may be part of a co_await expression (docs/contributing.md, compiler traps).
struct Patience {
  enum class Kind { forever, until, try_once };
  Kind kind = Kind::forever;
  Clock::time_point deadline{};

  template <class Rep, class Period>
  static Patience of(std::chrono::duration<Rep, Period> wait) {
    if (wait <= wait.zero()) return {Kind::try_once, {}};
    return {Kind::until, *after(wait)};
  }
  /// Until then on its own clock. In seconds, of which no time point is so many that they overflow.
  template <class AnyClock, class Duration>
  static Patience of(std::chrono::time_point<AnyClock, Duration> deadline) {
    using Seconds = std::chrono::duration<double>;
    return of(Seconds{deadline.time_since_epoch()} - Seconds{AnyClock::now().time_since_epoch()});
  }
};

void start_acquire(std::shared_ptr<ThreadHolds> lock, LockKind kind, Owner owner, Patience patience,
                   Handler<Lease> handler);
/// Of the line that `line` stands in, those of a kind, or all.
void start_participants(std::shared_ptr<ThreadHolds> lock, LockKind line, std::optional<LockKind> only,
                        Handler<std::vector<Participant>> handler);

}  // namespace detail

/// A mutual exclusion among all processes that use the same path: first come, first served, in ZooKeeper's order.
/// Curator's InterProcessMutex, and it excludes Curator's on the same path.
///
/// Who owns the lock may enter it again, by any object of the same Client on the same path, without a word to the
/// server: n acquires need n releases. Blocking calls own it by thread. An async_acquire without an Owner is an owner
/// of its own, and its Lease is what it owns. Usable as a TimedLockable: std::unique_lock, std::scoped_lock.
///
/// It is a handle: it may go before its leases and operations do. The last object of a Client on a path to be destroyed
/// releases what threads hold there.
/// Threads: any thread may call anything but the destructor.
class InterProcessMutex {
 public:
  /// `path` is the lock's directory; it is made, as container nodes, when it is first needed. With Kazoo's names it is
  /// one line with Kazoo's Lock as it comes, and with nobody who uses Curator's; the directory is a persistent node.
  /// Throws boost::system::system_error: Error::invalid_lock_path.
  InterProcessMutex(const ClientHandle& client, std::string path, LockNaming naming = LockNaming::curator);
  InterProcessMutex(const InterProcessMutex&) = delete;
  InterProcessMutex& operator=(const InterProcessMutex&) = delete;
  InterProcessMutex(InterProcessMutex&&) noexcept = default;
  InterProcessMutex& operator=(InterProcessMutex&&) noexcept = default;
  ~InterProcessMutex() = default;

  [[nodiscard]] const std::string& path() const noexcept;

  /// Waits in line for the lock and completes with a Lease that holds it.
  ///
  /// Signature     void(error_code, Lease)
  /// Completes     when every contender ahead of us is gone. Lost links are survived; a lost session costs the place in
  ///               line, and the attempt starts over, as often as the client's retry policy allows.
  /// Errors        Error::not_connected (no connection within the client's connection_timeout), Error::connection_loss,
  ///               Error::session_expired (too often), Error::auth_failed, Error::no_auth, Error::closed,
  ///               Error::closing, Error::sequence_exhausted, Error::no_node (the directory is deleted time and again),
  ///               Error::no_children_for_ephemerals (the path is an ephemeral node), Error::lock_lost (the owner has
  ///               lost it, and not released all of it), Error::too_many_reentries, Error::would_deadlock (see
  ///               InterProcessReadWriteLock), Error::mixed_lock_kinds (this Client has a lock of the other kind on the
  ///               path, or waits for one), Error::too_many_watches (the session has so many),
  ///               Error::quota_exceeded, Error::protocol_error (the server's answer makes no sense), operation_aborted
  /// Cancellation  terminal, partial, total: all leave no trace.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, Lease)> Token = asio::deferred_t>
  auto async_acquire(Token&& token = {}) const {
    return initiate_acquire(Owner::make(), detail::Patience{}, std::forward<Token>(token));
  }
  /// As above, for an owner who may have it already, and then has it once more at once.
  ///
  /// Signature     void(error_code, Lease)
  template <asio::completion_token_for<void(error_code, Lease)> Token = asio::deferred_t>
  auto async_acquire(Owner owner, Token&& token = {}) const {
    return initiate_acquire(owner, detail::Patience{}, std::forward<Token>(token));
  }

  /// As above, for at most `wait` in all; zero or less: one try, without waiting in line, though for ZooKeeper, at most
  /// for the client's connection_timeout: set that, or give a short `wait`, to bound it.
  ///
  /// Signature     void(error_code, Lease)
  /// Errors        besides the above Error::timed_out: others had the lock. Without a connection for all of the time it
  ///               is Error::not_connected. A lock not acquired leaves no trace.
  template <class Rep, class Period, asio::completion_token_for<void(error_code, Lease)> Token = asio::deferred_t>
  auto async_acquire(std::chrono::duration<Rep, Period> wait, Token&& token = {}) const {
    return initiate_acquire(Owner::make(), detail::Patience::of(wait), std::forward<Token>(token));
  }
  /// As above, for an owner who may have it already.
  ///
  /// Signature     void(error_code, Lease)
  template <class Rep, class Period, asio::completion_token_for<void(error_code, Lease)> Token = asio::deferred_t>
  auto async_acquire(Owner owner, std::chrono::duration<Rep, Period> wait, Token&& token = {}) const {
    return initiate_acquire(owner, detail::Patience::of(wait), std::forward<Token>(token));
  }

  /// Who holds the lock and who waits for it, first in line first.
  ///
  /// Signature     void(error_code, std::vector<Participant>)
  /// Completes     when the nodes that were listed have been read; who has gone in between is left out.
  /// Errors        Error::not_connected, Error::connection_loss, Error::session_expired, Error::no_auth,
  ///               Error::closed, operation_aborted; a
  ///               path that does not exist is an empty line
  /// Cancellation  terminal, partial, total.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, std::vector<Participant>)> Token = asio::deferred_t>
  auto async_participants(Token&& token = {}) const {
    return detail::initiate<void(error_code, std::vector<Participant>), &detail::start_participants>(
        std::forward<Token>(token), lock_, kind_, std::optional{kind_});
  }
  /// As above, but blocks. Throws boost::system::system_error: the errors of async_participants; Error::would_deadlock
  /// where the client's own work would have to wait for this call. Without a deadline: somebody has to run the client's
  /// executor.
  [[nodiscard]] std::vector<Participant> participants() const;

  /// Blocks until this thread holds the lock. Throws boost::system::system_error: the errors of async_acquire;
  /// Error::lock_lost if this thread held it and has not released it since it was lost; Error::would_deadlock where the
  /// client's own work would have to wait for this call.
  void acquire();

  /// As acquire, for at most `wait`: false when others had the lock for that long. Zero or less: one try, which throws
  /// after the client's connection_timeout if ZooKeeper cannot be reached.
  template <class Rep, class Period>
  [[nodiscard]] bool acquire(std::chrono::duration<Rep, Period> wait) {
    return acquire(detail::Patience::of(wait));
  }

  /// Gives one acquire of this thread back; the last one waits for the server's word. Throws
  /// boost::system::system_error: Error::not_owner if this thread holds nothing, Error::lock_lost if the lock was lost
  /// meanwhile; this thread then holds nothing any more.
  void release();
  /// As above, waiting for at most `wait`: false when the time is up. The delete goes on in the background then, and
  /// this thread holds nothing any more.
  template <class Rep, class Period>
  [[nodiscard]] bool release(std::chrono::duration<Rep, Period> wait) {
    return release(after(wait));
  }

  void lock() { acquire(); }
  /// One try. Without a server it blocks for ClientConfig::connection_timeout, and throws then; try_lock_for(1s) would
  /// throw after a second.
  [[nodiscard]] bool try_lock() { return acquire(std::chrono::nanoseconds::zero()); }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(std::chrono::duration<Rep, Period> wait) {
    return acquire(wait);
  }
  template <class AnyClock, class Duration>
  [[nodiscard]] bool try_lock_until(std::chrono::time_point<AnyClock, Duration> deadline) {
    return acquire(detail::Patience::of(deadline));
  }
  /// As release, but does not wait: the last one puts the delete on the wire. Throws Error::not_owner only.
  void unlock();

  /// As Lease::async_wait_lost, of what the calling thread holds. Throws Error::not_owner if it holds nothing.
  ///
  /// Signature     void(error_code)
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_wait_lost(Token&& token = {}) const {
    return detail::initiate<void(error_code), &detail::start_wait_lost>(std::forward<Token>(token), held());
  }
  /// As Lease::async_wait_revocation, of what the calling thread holds. Throws Error::not_owner if it holds nothing.
  ///
  /// Signature     void(error_code)
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_wait_revocation(Token&& token = {}) const {
    return detail::initiate<void(error_code), &detail::start_wait_revocation>(std::forward<Token>(token), held());
  }
  /// As Lease::guard, of what the calling thread holds. Throws Error::not_owner if it holds nothing.
  [[nodiscard]] Transaction guard() const;
  /// As Lease::valid_until, of what the calling thread holds; time_point{} if this thread holds nothing.
  [[nodiscard]] Clock::time_point valid_until() const;

  /// Somebody holds the lock by this Client, and has not lost it.
  [[nodiscard]] bool is_acquired_in_this_process() const;
  [[nodiscard]] bool is_owned_by_current_thread() const;
  /// The token of the lock that this thread holds; 0 if it holds none.
  [[nodiscard]] std::int64_t fencing_token() const;

 private:
  friend class InterProcessReadWriteLock;
  friend class detail::LockSet;
  InterProcessMutex(std::shared_ptr<detail::ThreadHolds> lock, LockKind kind) noexcept
      : lock_{std::move(lock)}, kind_{kind} {}

  template <class Token>
  auto initiate_acquire(Owner owner, detail::Patience patience, Token&& token) const {
    return detail::initiate<void(error_code, Lease), &detail::start_acquire>(std::forward<Token>(token), lock_, kind_,
                                                                             owner, patience);
  }
  bool acquire(detail::Patience patience);
  bool release(Deadline deadline);
  /// What the calling thread holds; throws Error::not_owner.
  [[nodiscard]] std::shared_ptr<detail::Hold> held() const;

  std::shared_ptr<detail::ThreadHolds> lock_;
  LockKind kind_ = LockKind::mutex;
};

}  // namespace zklock
