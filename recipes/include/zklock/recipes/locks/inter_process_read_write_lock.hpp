// A distributed lock that readers share and a writer has alone.
#pragma once

#include <zklock/recipes/locks/inter_process_mutex.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace zklock {

/// A lock that any number of readers hold together, or one writer alone. It is first come, first served, so a waiting
/// writer blocks later readers. Curator's InterProcessReadWriteLock; it excludes Curator's on the same path.
///
/// read_lock() and write_lock() are locks like InterProcessMutex, and re-entrant too. The owner of the write lock may
/// also acquire the read lock, and keep it when it releases the write lock (a downgrade): no writer gets the lock in
/// between. An owner that has the read lock alone and wants the write lock (an upgrade) would wait for itself: it gets
/// Error::would_deadlock, at once. Both depend on the owner: the thread for blocking calls, the Owner for
/// async_acquire.
///
/// Usable as a SharedTimedLockable: std::unique_lock for the write lock, std::shared_lock for the read lock.
///
/// It is a handle, as InterProcessMutex. Threads: any thread may call anything but the destructor.
class InterProcessReadWriteLock {
 public:
  /// `path` is the lock's directory; it is created, as container nodes, when it is first needed. With Kazoo's names the
  /// lock shares its wait queue with Kazoo's unmodified ReadLock and WriteLock, and the directory is a persistent node.
  /// Use no mutex on that path: it would not wait for readers. Throws boost::system::system_error:
  /// LockError::invalid_lock_path.
  InterProcessReadWriteLock(const ClientHandle& client, const std::string& path,
                            LockNaming naming = LockNaming::curator)
      : InterProcessReadWriteLock{client, path, LockSettings{.naming = naming}} {}
  /// As above; and the client may keep the write lock when it is released (docs/locks.md, "Keeping a lock"). With
  /// Keeping::silent it may keep the read lock, too: one node then serves all readers of the client, by objects with
  /// this setting, while no writer is in the queue. All of them have that node's token, which is less than those of
  /// readers that other clients let in meanwhile: do not compare tokens among readers. With Keeping::confirmed the read
  /// lock is not kept, and neither is that of an owner that has, or had, the write lock (a downgrade).
  InterProcessReadWriteLock(const ClientHandle& client, const std::string& path, LockSettings settings);
  /// A temporary Client would be closed at once.
  template <class... Rest>
  InterProcessReadWriteLock(Client&&, Rest&&...) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return write_.path(); }
  [[nodiscard]] InterProcessMutex& read_lock() noexcept { return read_; }
  [[nodiscard]] const InterProcessMutex& read_lock() const noexcept { return read_; }
  [[nodiscard]] InterProcessMutex& write_lock() noexcept { return write_; }
  [[nodiscard]] const InterProcessMutex& write_lock() const noexcept { return write_; }

  /// Lists the holders and the waiters of both locks, readers and writers, in the order of the queue.
  ///
  /// Signature     void(error_code, std::vector<LockParticipant>)
  /// Completes     when the nodes that were listed have been read; a node that is deleted in between is left out.
  /// Errors        as InterProcessMutex::async_participants, which lists the nodes of one kind
  /// Cancellation  terminal, partial, total.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, std::vector<LockParticipant>)> Token = asio::deferred_t>
  auto async_participants(Token&& token = {}) const {
    return detail::initiate<void(error_code, std::vector<LockParticipant>), &detail::start_participants>(
        std::forward<Token>(token), write_.lock_, LockKind::write, std::optional<LockKind>{});
  }
  /// As above, but blocks; throws as InterProcessMutex::participants.
  [[nodiscard]] std::vector<LockParticipant> participants() const;

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
  InterProcessReadWriteLock(const std::shared_ptr<detail::ThreadLeases>& lock, LockSettings settings) noexcept
      : read_{lock, LockKind::read, settings}, write_{lock, LockKind::write, settings} {}

  InterProcessMutex read_;
  InterProcessMutex write_;
};

}  // namespace zklock
