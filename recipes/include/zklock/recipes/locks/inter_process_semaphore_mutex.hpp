// A distributed mutex that nobody may enter again, and that any thread may release.
#pragma once

#include <zklock/recipes/inter_process_semaphore.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace zklock {

/// A semaphore of one permit, as a lock: Curator's InterProcessSemaphoreMutex, and it excludes Curator's on the same
/// path. It does not exclude an InterProcessMutex there.
///
/// It belongs to the object that has acquired it, not to a thread: any thread may release it, and who acquires it again
/// waits. Only a thread that would wait for ever for what it has acquired itself is told so: Error::would_deadlock.
/// Usable as a TimedLockable: std::unique_lock, std::scoped_lock.
///
/// It is a handle: it may go before its leases and operations do. Its destructor releases, in the background, what was
/// acquired by blocking calls.
/// Threads: any thread may call anything but the destructor.
class InterProcessSemaphoreMutex {
 public:
  /// Throws boost::system::system_error: Error::invalid_lock_path.
  InterProcessSemaphoreMutex(const ClientHandle& client, std::string path);
  InterProcessSemaphoreMutex(const InterProcessSemaphoreMutex&) = delete;
  InterProcessSemaphoreMutex& operator=(const InterProcessSemaphoreMutex&) = delete;
  InterProcessSemaphoreMutex(InterProcessSemaphoreMutex&&) noexcept = default;
  InterProcessSemaphoreMutex& operator=(InterProcessSemaphoreMutex&&) noexcept = default;
  ~InterProcessSemaphoreMutex() = default;

  [[nodiscard]] const std::string& path() const noexcept { return semaphore_.path(); }

  /// Waits in line for the lock and completes with a Lease that holds it.
  ///
  /// Signature     void(error_code, Lease)
  /// Completes     as InterProcessSemaphore::async_acquire
  /// Errors        as InterProcessSemaphore::async_acquire, but for Error::invalid_data
  /// Cancellation  terminal, partial, total: all leave no trace.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, Lease)> Token = asio::deferred_t>
  auto async_acquire(Token&& token = {}) const {
    return semaphore_.async_acquire(std::forward<Token>(token));
  }
  /// As above, for at most `wait` in all; zero or less: one try; see InterProcessSemaphore::async_acquire.
  ///
  /// Signature     void(error_code, Lease)
  /// Errors        besides the above Error::timed_out
  template <class Rep, class Period, asio::completion_token_for<void(error_code, Lease)> Token = asio::deferred_t>
  auto async_acquire(std::chrono::duration<Rep, Period> wait, Token&& token = {}) const {
    return semaphore_.async_acquire(wait, std::forward<Token>(token));
  }

  /// Who holds the lock, and who waits for it in front of all others.
  ///
  /// Signature     void(error_code, std::vector<Participant>)
  /// Completes     as InterProcessSemaphore::async_participants
  /// Errors        as InterProcessSemaphore::async_participants
  /// Cancellation  terminal, partial, total.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, std::vector<Participant>)> Token = asio::deferred_t>
  auto async_participants(Token&& token = {}) const {
    return semaphore_.async_participants(std::forward<Token>(token));
  }

  /// Blocks until this object holds the lock. Throws boost::system::system_error: the errors of async_acquire;
  /// Error::lock_lost if this thread acquired it by this object and has not released it since it was lost;
  /// Error::would_deadlock if this thread has it by this object, and where the client's own work would have to wait for
  /// this call.
  void acquire();
  /// As acquire, for at most `wait`: false when the time is up. Zero or less: one try; see
  /// InterProcessSemaphore::async_acquire. Who has the lock already waits as others do.
  template <class Rep, class Period>
  [[nodiscard]] bool acquire(std::chrono::duration<Rep, Period> wait) {
    return acquire(detail::Patience::of(wait));
  }

  /// Gives back what this thread has acquired by this object, or what another one has, and waits for the server's word.
  /// Throws boost::system::system_error: Error::not_owner if nobody has acquired it by this object, Error::lock_lost if
  /// it was lost meanwhile; it is not held any more then.
  void release();
  /// As above, waiting for at most `wait`: false when the time is up. The delete goes on in the background then.
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
  /// As release, but does not wait: it puts the delete on the wire. Throws Error::not_owner only.
  void unlock();

  /// Somebody holds the lock by this Client, and has not lost it.
  [[nodiscard]] bool is_acquired_in_this_process() const;
  /// The token of the lock that release() would give back; 0 if there is none, or it is lost.
  [[nodiscard]] std::int64_t fencing_token() const;

 private:
  class Held;
  bool acquire(detail::Patience patience);
  bool release(Deadline deadline);

  InterProcessSemaphore semaphore_;
  std::shared_ptr<Held> held_;
};

}  // namespace zklock
