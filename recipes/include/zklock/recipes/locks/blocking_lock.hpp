// The blocking face that the locks have in common.
#pragma once

#include <zklock/clock.hpp>
#include <zklock/recipe_kit/wait_policy.hpp>

#include <chrono>

namespace zklock {

/// What makes a lock a TimedLockable, for std::unique_lock and std::scoped_lock, and Curator's words for the same. The
/// lock says whose acquire it is (a thread's, an object's) and what each call throws.
///
/// `Lock` has `bool acquire_within(detail::WaitPolicy)`, `bool release_within(Deadline)` and `void unlock()`.
template <class Lock>
class BlockingLock {
 public:
  /// Blocks until the lock is held.
  void acquire() { static_cast<void>(self().acquire_within({})); }
  /// As acquire, for at most `wait`: false when others had the lock for that long. Zero or less: one try, which throws
  /// after the client's connection_timeout if ZooKeeper cannot be reached.
  template <class Rep, class Period>
  [[nodiscard]] bool acquire(std::chrono::duration<Rep, Period> wait) {
    return self().acquire_within(detail::WaitPolicy::of(wait));
  }

  /// Gives one acquire back; the last one waits for the server's word. What was acquired is not held any more then,
  /// also when this throws.
  void release() { static_cast<void>(self().release_within({})); }
  /// As above, waiting for at most `wait`: false when the time is up. The delete goes on in the background then.
  template <class Rep, class Period>
  [[nodiscard]] bool release(std::chrono::duration<Rep, Period> wait) {
    return self().release_within(after(wait));
  }

  void lock() { acquire(); }
  /// One try. Without a server it blocks for ClientConfig::connection_timeout, and throws then; try_lock_for(1s) throws
  /// after a second.
  [[nodiscard]] bool try_lock() { return acquire(std::chrono::nanoseconds::zero()); }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(std::chrono::duration<Rep, Period> wait) {
    return acquire(wait);
  }
  template <class AnyClock, class Duration>
  [[nodiscard]] bool try_lock_until(std::chrono::time_point<AnyClock, Duration> deadline) {
    return self().acquire_within(detail::WaitPolicy::of(deadline));
  }

 protected:
  BlockingLock() = default;
  ~BlockingLock() = default;
  BlockingLock(const BlockingLock&) = default;
  BlockingLock& operator=(const BlockingLock&) = default;

 private:
  [[nodiscard]] Lock& self() noexcept { return static_cast<Lock&>(*this); }
};

}  // namespace zklock
