// Several locks, held as one.
#pragma once

#include <zklock/recipes/inter_process_mutex.hpp>
#include <zklock/recipes/multi_lease.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace zklock {

namespace detail {
asio::any_io_executor serial_executor(const LockSet& locks);
asio::any_io_executor callback_executor(const LockSet& locks);
void refuse_after_fork(const LockSet& locks);
void start_acquire_all(std::shared_ptr<LockSet> locks, Owner owner, Patience patience, Handler<MultiLease> handler);
}  // namespace detail

/// Several locks that are acquired and released as one: all of them or none. Curator's InterProcessMultiLock.
///
/// Whatever order they are named in, they are acquired in one order that is the same for everybody: by their paths at
/// the server, and of one path the write lock before the read lock. So those who hold nothing else cannot wait for one
/// another in a circle. (With Curator's, which has the caller's order, they may.)
///
/// Re-entrant by owner as its parts are, which may also be used alone, and named twice. Usable as a TimedLockable:
/// std::unique_lock.
///
/// It is a handle, as InterProcessMutex, and it keeps its parts: the objects that it was made of may go before it.
/// Threads: any thread may call anything but the destructor.
class InterProcessMultiLock {
 public:
  /// Of an InterProcessMutex for each path. Throws boost::system::system_error: Error::invalid_lock_path,
  /// Error::bad_arguments without any path.
  InterProcessMultiLock(const ClientHandle& client, const std::vector<std::string>& paths);
  /// Of locks that there are: mutexes, and the halves of read/write locks; of several Clients, too. Throws
  /// boost::system::system_error: Error::bad_arguments without any lock, Error::would_deadlock if two of them would
  /// wait for each other: the same lock by two Clients, or by two namespaces of one.
  explicit InterProcessMultiLock(const std::vector<std::reference_wrapper<const InterProcessMutex>>& locks);
  InterProcessMultiLock(const InterProcessMultiLock&) = delete;
  InterProcessMultiLock& operator=(const InterProcessMultiLock&) = delete;
  InterProcessMultiLock(InterProcessMultiLock&&) noexcept = default;
  InterProcessMultiLock& operator=(InterProcessMultiLock&&) noexcept = default;
  ~InterProcessMultiLock() = default;

  /// Waits in line for one lock after the other and completes with a MultiLease that holds them all.
  ///
  /// Signature     void(error_code, MultiLease)
  /// Completes     when all are acquired. One whose session ends while another is waited for costs all: they are given
  ///               back, and the attempt starts over. When one fails, those acquired before are given back, the last
  ///               one first, and that is waited for; not so if their own link is down, the time is up or the caller
  ///               has cancelled: then it goes on in the background.
  /// Errors        those of InterProcessMutex::async_acquire; of several the first
  /// Cancellation  terminal, partial, total: all leave no trace.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, MultiLease)> Token = asio::deferred_t>
  auto async_acquire(Token&& token = {}) const {
    return initiate_acquire(Owner::make(), detail::Patience{}, std::forward<Token>(token));
  }
  /// As above, for an owner who may have some of them already.
  ///
  /// Signature     void(error_code, MultiLease)
  template <asio::completion_token_for<void(error_code, MultiLease)> Token = asio::deferred_t>
  auto async_acquire(Owner owner, Token&& token = {}) const {
    return initiate_acquire(owner, detail::Patience{}, std::forward<Token>(token));
  }

  /// As above, for at most `wait` in all, however many locks there are; zero or less: one try for each, without waiting
  /// in line.
  ///
  /// Signature     void(error_code, MultiLease)
  /// Errors        besides the above Error::timed_out
  template <class Rep, class Period, asio::completion_token_for<void(error_code, MultiLease)> Token = asio::deferred_t>
  auto async_acquire(std::chrono::duration<Rep, Period> wait, Token&& token = {}) const {
    return initiate_acquire(Owner::make(), detail::Patience::of(wait), std::forward<Token>(token));
  }
  /// As above, for an owner who may have some of them already.
  ///
  /// Signature     void(error_code, MultiLease)
  template <class Rep, class Period, asio::completion_token_for<void(error_code, MultiLease)> Token = asio::deferred_t>
  auto async_acquire(Owner owner, std::chrono::duration<Rep, Period> wait, Token&& token = {}) const {
    return initiate_acquire(owner, detail::Patience::of(wait), std::forward<Token>(token));
  }

  /// Blocks until this thread holds all of them. Throws boost::system::system_error as InterProcessMutex::acquire; this
  /// thread then holds what it held before.
  void acquire();
  /// As acquire, for at most `wait` in all: false when the time is up. Zero or less: one try for each.
  template <class Rep, class Period>
  [[nodiscard]] bool acquire(std::chrono::duration<Rep, Period> wait) {
    return acquire(detail::Patience::of(wait));
  }
  /// Gives one acquire of each back, the last one first, and waits as InterProcessMutex::release does. One that fails
  /// keeps no other; throws the first failure.
  void release();
  /// As above, waiting for at most `wait` in all: false when the time is up. The deletes go on in the background then,
  /// and this thread holds nothing any more.
  template <class Rep, class Period>
  [[nodiscard]] bool release(std::chrono::duration<Rep, Period> wait) {
    return release(after(wait));
  }

  void lock() { acquire(); }
  [[nodiscard]] bool try_lock() { return acquire(std::chrono::nanoseconds::zero()); }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(std::chrono::duration<Rep, Period> wait) {
    return acquire(wait);
  }
  template <class AnyClock, class Duration>
  [[nodiscard]] bool try_lock_until(std::chrono::time_point<AnyClock, Duration> deadline) {
    return acquire(detail::Patience::of(deadline));
  }
  /// As release, but does not wait. Throws Error::not_owner only.
  void unlock();

  /// As InterProcessMutex's, of each of them.
  [[nodiscard]] bool is_acquired_in_this_process() const;
  [[nodiscard]] bool is_owned_by_current_thread() const;
  /// The tokens of what this thread holds, in the order in which the locks were named.
  [[nodiscard]] std::vector<std::int64_t> fencing_tokens() const;

 private:
  template <class Token>
  auto initiate_acquire(Owner owner, detail::Patience patience, Token&& token) const {
    return detail::initiate<void(error_code, MultiLease), &detail::start_acquire_all>(std::forward<Token>(token),
                                                                                      locks_, owner, patience);
  }
  bool acquire(detail::Patience patience);
  bool release(Deadline deadline);

  std::shared_ptr<detail::LockSet> locks_;
};

}  // namespace zklock
