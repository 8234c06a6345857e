// Several locks that are acquired and released as one.
#pragma once

#include <zklock/recipes/locks/blocking_lock.hpp>
#include <zklock/recipes/locks/inter_process_mutex.hpp>
#include <zklock/recipes/locks/multi_lease.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace zklock {

namespace detail {
const ClientHandle& home_of(const LockSet& locks);
void start_acquire_all(std::shared_ptr<LockSet> locks, Owner owner, WaitPolicy wait, Handler<MultiLease> handler);
}  // namespace detail

/// Several locks that are acquired and released as one: all of them or none. Curator's InterProcessMultiLock.
///
/// The locks are acquired in a fixed order, whatever order they are named in: by their paths at the server, and of one
/// path the write lock before the read lock. The order is the same for all clients, so owners that hold no other locks
/// cannot wait for one another in a circle. (With Curator's, which uses the caller's order, they may.)
///
/// The locks may be in several ensembles, by a Client for each. Locks on the same path in two ensembles are acquired in
/// the order of the ensembles' servers as the connect strings name them, sorted: for these alone, write the connect
/// strings alike in all processes. While one of the ensembles is away, an attempt fails and releases the others' locks.
///
/// Re-entrant by owner, as its parts are. The parts may also be used alone, and a part may be named twice. Usable as a
/// TimedLockable: std::unique_lock.
///
/// It is a handle, as InterProcessMutex, and it keeps its parts: the objects that it was made of may be destroyed
/// before it.
/// Threads: any thread may call anything but the destructor.
class InterProcessMultiLock : public BlockingLock<InterProcessMultiLock> {
 public:
  /// Makes an InterProcessMutex for each path. Throws boost::system::system_error: LockError::invalid_lock_path,
  /// Error::bad_arguments without any path.
  InterProcessMultiLock(const ClientHandle& client, const std::vector<std::string>& paths);
  /// A temporary Client would be closed at once.
  template <class... Rest>
  InterProcessMultiLock(Client&&, Rest&&...) = delete;
  /// Takes existing locks: mutexes, and the halves of read/write locks. They may belong to several Clients. Throws
  /// boost::system::system_error: Error::bad_arguments without any lock, Error::would_deadlock if two of them would
  /// wait for each other: the same lock by two Clients whose connect strings have a server in common, or by two
  /// namespaces of one Client.
  explicit InterProcessMultiLock(const std::vector<std::reference_wrapper<const InterProcessMutex>>& locks);
  InterProcessMultiLock(const InterProcessMultiLock&) = delete;
  InterProcessMultiLock& operator=(const InterProcessMultiLock&) = delete;
  InterProcessMultiLock(InterProcessMultiLock&&) noexcept = default;
  InterProcessMultiLock& operator=(InterProcessMultiLock&&) noexcept = default;
  ~InterProcessMultiLock() = default;

  /// Waits for one lock after the other and completes with a MultiLease that holds them all.
  ///
  /// Signature     void(error_code, MultiLease)
  /// Completes     when all are acquired. If the session of an acquired lock ends while another lock is waited for, all
  ///               are released, and the attempt starts over. If one fails, those acquired before are released, the
  ///               last one first, and the operation waits for that. It does not wait if their own link is down, the
  ///               time is up or the caller has cancelled: then the release goes on in the background.
  /// Errors        those of InterProcessMutex::async_acquire; if there are several, the first
  /// Cancellation  terminal, partial, total: all leave no trace.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, MultiLease)> Token = asio::deferred_t>
  auto async_acquire(Token&& token = {}) const {
    return initiate_acquire(Owner::make(), detail::WaitPolicy{}, std::forward<Token>(token));
  }
  /// As above, for an owner that may already hold some of them.
  ///
  /// Signature     void(error_code, MultiLease)
  template <asio::completion_token_for<void(error_code, MultiLease)> Token = asio::deferred_t>
  auto async_acquire(Owner owner, Token&& token = {}) const {
    return initiate_acquire(owner, detail::WaitPolicy{}, std::forward<Token>(token));
  }

  /// As above, for at most `wait` in all, however many locks there are. Zero or less: one try for each, without waiting
  /// in the queue.
  ///
  /// Signature     void(error_code, MultiLease)
  /// Errors        besides the above Error::timed_out
  template <class Rep, class Period, asio::completion_token_for<void(error_code, MultiLease)> Token = asio::deferred_t>
  auto async_acquire(std::chrono::duration<Rep, Period> wait, Token&& token = {}) const {
    return initiate_acquire(Owner::make(), detail::WaitPolicy::of(wait), std::forward<Token>(token));
  }
  /// As above, for an owner that may already hold some of them.
  ///
  /// Signature     void(error_code, MultiLease)
  template <class Rep, class Period, asio::completion_token_for<void(error_code, MultiLease)> Token = asio::deferred_t>
  auto async_acquire(Owner owner, std::chrono::duration<Rep, Period> wait, Token&& token = {}) const {
    return initiate_acquire(owner, detail::WaitPolicy::of(wait), std::forward<Token>(token));
  }

  // The blocking calls of BlockingLock acquire all of the locks, or none of them, for the calling thread, and throw
  // what InterProcessMutex's throw. The time that they are given is for all locks together. One release that fails
  // keeps no other lock; the first failure is thrown.

  /// As release, but does not wait. Throws LockError::not_owner only.
  void unlock();

  /// As InterProcessMutex's, for all of them.
  [[nodiscard]] bool is_acquired_in_this_process() const;
  [[nodiscard]] bool is_owned_by_current_thread() const;
  /// The tokens of what this thread holds, in the order in which the locks were named.
  [[nodiscard]] std::vector<std::int64_t> fencing_tokens() const;

 private:
  template <class Token>
  auto initiate_acquire(Owner owner, detail::WaitPolicy wait, Token&& token) const {
    return detail::initiate<void(error_code, MultiLease), &detail::start_acquire_all>(std::forward<Token>(token),
                                                                                      locks_, owner, wait);
  }
  friend class BlockingLock<InterProcessMultiLock>;
  bool acquire_within(detail::WaitPolicy wait);
  bool release_within(Deadline deadline);

  std::shared_ptr<detail::LockSet> locks_;
};

}  // namespace zklock
