// A distributed mutex that is not re-entrant, and that any thread may release.
#pragma once

#include <zklock/recipes/locks/blocking_lock.hpp>
#include <zklock/recipes/locks/inter_process_semaphore.hpp>
#include <zklock/recipes/locks/lock_settings.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace zklock {

/// A semaphore of one permit, as a lock: Curator's InterProcessSemaphoreMutex; it excludes Curator's on the same path.
/// It does not exclude an InterProcessMutex there.
///
/// The lock belongs to the object that has acquired it, not to a thread: any thread may release it, and a second
/// acquire waits. Only a thread that would wait for ever for what it has acquired itself gets an error:
/// Error::would_deadlock. Usable as a TimedLockable: std::unique_lock, std::scoped_lock.
///
/// It is a handle: it may be destroyed before its leases and operations end. Its destructor releases, in the
/// background, what was acquired by blocking calls.
/// Threads: any thread may call anything but the destructor.
class InterProcessSemaphoreMutex : public BlockingLock<InterProcessSemaphoreMutex> {
 public:
  /// Throws boost::system::system_error: LockError::invalid_lock_path.
  InterProcessSemaphoreMutex(const ClientHandle& client, std::string path);
  /// As above; and the client may keep the lock when it is released (docs/locks.md, "Keeping a lock"). The names are
  /// always Curator's.
  InterProcessSemaphoreMutex(const ClientHandle& client, std::string path, LockSettings settings);
  /// A temporary Client would be closed at once.
  template <class... Rest>
  InterProcessSemaphoreMutex(Client&&, Rest&&...) = delete;
  InterProcessSemaphoreMutex(const InterProcessSemaphoreMutex&) = delete;
  InterProcessSemaphoreMutex& operator=(const InterProcessSemaphoreMutex&) = delete;
  InterProcessSemaphoreMutex(InterProcessSemaphoreMutex&&) noexcept = default;
  InterProcessSemaphoreMutex& operator=(InterProcessSemaphoreMutex&&) noexcept = default;
  ~InterProcessSemaphoreMutex() = default;

  [[nodiscard]] const std::string& path() const noexcept { return semaphore_.path(); }

  /// Waits in the queue for the lock and completes with a Lease that holds it.
  ///
  /// Signature     void(error_code, Lease)
  /// Completes     as InterProcessSemaphore::async_acquire
  /// Errors        as InterProcessSemaphore::async_acquire, except Error::invalid_data
  /// Cancellation  terminal, partial, total: all leave no trace.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, Lease)> Token = asio::deferred_t>
  auto async_acquire(Token&& token = {}) const {
    return semaphore_.async_acquire(std::forward<Token>(token));
  }
  /// As above, for at most `wait` in all. Zero or less: one try; see InterProcessSemaphore::async_acquire.
  ///
  /// Signature     void(error_code, Lease)
  /// Errors        besides the above Error::timed_out
  template <class Rep, class Period, asio::completion_token_for<void(error_code, Lease)> Token = asio::deferred_t>
  auto async_acquire(std::chrono::duration<Rep, Period> wait, Token&& token = {}) const {
    return semaphore_.async_acquire(wait, std::forward<Token>(token));
  }

  /// Lists the holder of the lock, and the waiter at the head of the queue.
  ///
  /// Signature     void(error_code, std::vector<LockParticipant>)
  /// Completes     as InterProcessSemaphore::async_participants
  /// Errors        as InterProcessSemaphore::async_participants
  /// Cancellation  terminal, partial, total.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, std::vector<LockParticipant>)> Token = asio::deferred_t>
  auto async_participants(Token&& token = {}) const {
    return semaphore_.async_participants(std::forward<Token>(token));
  }

  // The blocking calls of BlockingLock are those of this object: what one thread has acquired another one may release.
  // They throw boost::system::system_error: the errors of async_acquire; LockError::lock_lost if this thread acquired
  // the lock by this object and has not released it since it was lost, and from release() if it was lost meanwhile;
  // LockError::not_owner from release() if nothing is acquired by this object; Error::would_deadlock if this thread
  // waits without a limit for what it holds by this object; Error::blocking_in_handler where the client's own work
  // would have to wait for the call; Error::executor_not_running.

  /// As release, but does not wait: it sends the delete. Throws LockError::not_owner only.
  void unlock();

  /// An owner holds the lock by this Client and has not lost it.
  [[nodiscard]] bool is_acquired_in_this_process() const;
  /// The token of the lock that release() would release; 0 if there is none, or it is lost.
  [[nodiscard]] std::int64_t fencing_token() const;

 private:
  class Held;
  friend class BlockingLock<InterProcessSemaphoreMutex>;
  bool acquire_within(detail::WaitPolicy wait);
  bool release_within(Deadline deadline);

  InterProcessSemaphore semaphore_;
  std::shared_ptr<Held> held_;
};

}  // namespace zklock
