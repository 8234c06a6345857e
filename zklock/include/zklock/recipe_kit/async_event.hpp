// An event that coroutines can await.
#pragma once

#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/timer.hpp>

namespace zklock {

/// Wakes the coroutines that wait when it happens. It is forgotten at once, so a coroutine checks its condition before
/// it waits. Implemented as a timer that never expires and is cancelled.
///
/// Threads: one serial executor.
class AsyncEvent {
 public:
  explicit AsyncEvent(const asio::any_io_executor& serial) : timer_{serial, Clock::time_point::max()} {}

  /// Waits until it happens next, or the caller is cancelled: operation_aborted for both.
  [[nodiscard]] auto wait() { return timer_.async_wait(use_tuple); }
  /// The same, until `latest` at most: no error then. Only for a single waiter: the time applies to all waiters.
  [[nodiscard]] auto wait_until(Clock::time_point latest) {
    timer_.expires_at(latest);
    return timer_.async_wait(use_tuple);
  }
  void happen() { timer_.cancel(); }

 private:
  Timer timer_;
};

}  // namespace zklock
