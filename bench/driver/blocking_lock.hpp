// Locks that block their thread: one thread for each waiter.
#pragma once

#include "task.hpp"
#include "window.hpp"

#include <functional>
#include <memory>
#include <string>

namespace zklock::bench {

class BlockingLock {
 public:
  virtual ~BlockingLock() = default;
  /// False: the window is closing, and the lock was not acquired.
  virtual bool acquire(const Window& window) = 0;
  /// Asks once.
  virtual bool try_acquire() = 0;
  virtual void release() = 0;
};

/// Makes the lock of a waiter.
using LockFactory = std::function<std::unique_ptr<BlockingLock>(std::size_t waiter)>;

LockFactory zklock_locks(const Task& task);
LockFactory zklock_kept_locks(const Task& task);  // silently
LockFactory std_locks(const Task& task);
LockFactory redis_locks(const Task& task);
LockFactory memcached_locks(const Task& task);
LockFactory mariadb_locks(const Task& task);

}  // namespace zklock::bench
