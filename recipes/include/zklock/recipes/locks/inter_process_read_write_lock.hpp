// Readers share, a writer is alone.
#pragma once

#include <zklock/recipes/inter_process_mutex.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace zklock {

/// A lock that any number of readers hold together, or one writer alone: first come, first served, so a writer who
/// waits keeps later readers out. Curator's InterProcessReadWriteLock, and it excludes Curator's on the same path.
///
/// read_lock() and write_lock() are locks like InterProcessMutex, re-entrant and all. Who has the write lock may
/// acquire the read lock, too, and keep it when it gives the write lock back (a downgrade): no writer gets in between.
/// Who has the read lock alone and wants the write lock would wait for itself: Error::would_deadlock, at once. Both go
/// by owner: for blocking calls the thread, for async_acquire the Owner.
///
/// Usable as a SharedTimedLockable: std::unique_lock for the write lock, std::shared_lock for the read lock.
///
/// It is a handle, as InterProcessMutex. Threads: any thread may call anything but the destructor.
class InterProcessReadWriteLock {
 public:
  /// `path` is the lock's directory; it is made, as container nodes, when it is first needed. With Kazoo's names it is
  /// one line with Kazoo's ReadLock and WriteLock as they come; use no mutex on that path, which would not wait for
  /// readers; the directory is a persistent node. Throws boost::system::system_error: Error::invalid_lock_path.
  InterProcessReadWriteLock(const ClientHandle& client, const std::string& path,
                            LockNaming naming = LockNaming::curator);

  [[nodiscard]] const std::string& path() const noexcept { return write_.path(); }
  [[nodiscard]] InterProcessMutex& read_lock() noexcept { return read_; }
  [[nodiscard]] const InterProcessMutex& read_lock() const noexcept { return read_; }
  [[nodiscard]] InterProcessMutex& write_lock() noexcept { return write_; }
  [[nodiscard]] const InterProcessMutex& write_lock() const noexcept { return write_; }

  /// Who holds one of the locks and who waits for one, readers and writers, first in line first.
  ///
  /// Signature     void(error_code, std::vector<Participant>)
  /// Completes     when the nodes that were listed have been read; who has gone in between is left out.
  /// Errors        as InterProcessMutex::async_participants, which tells those of one kind
  /// Cancellation  terminal, partial, total.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, std::vector<Participant>)> Token = asio::deferred_t>
  auto async_participants(Token&& token = {}) const {
    return detail::initiate<void(error_code, std::vector<Participant>), &detail::start_participants>(
        std::forward<Token>(token), write_.lock_, LockKind::write, std::optional<LockKind>{});
  }
  /// As above, but blocks; throws as InterProcessMutex::participants.
  [[nodiscard]] std::vector<Participant> participants() const;

  // The write lock; see InterProcessMutex.
  void lock() { write_.lock(); }
  [[nodiscard]] bool try_lock() { return write_.try_lock(); }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(std::chrono::duration<Rep, Period> wait) {
    return write_.try_lock_for(wait);
  }
  template <class AnyClock, class Duration>
  [[nodiscard]] bool try_lock_until(std::chrono::time_point<AnyClock, Duration> deadline) {
    return write_.try_lock_until(deadline);
  }
  void unlock() { write_.unlock(); }

  // The read lock.
  void lock_shared() { read_.lock(); }
  [[nodiscard]] bool try_lock_shared() { return read_.try_lock(); }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_shared_for(std::chrono::duration<Rep, Period> wait) {
    return read_.try_lock_for(wait);
  }
  template <class AnyClock, class Duration>
  [[nodiscard]] bool try_lock_shared_until(std::chrono::time_point<AnyClock, Duration> deadline) {
    return read_.try_lock_until(deadline);
  }
  void unlock_shared() { read_.unlock(); }

 private:
  explicit InterProcessReadWriteLock(const std::shared_ptr<detail::ThreadHolds>& lock) noexcept
      : read_{lock, LockKind::read}, write_{lock, LockKind::write} {}

  InterProcessMutex read_;
  InterProcessMutex write_;
};

}  // namespace zklock
