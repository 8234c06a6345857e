// Moves the clock by hand; only for testing::ManualClock.
#pragma once

#include <zklock/clock.hpp>

#include <atomic>
#include <limits>

namespace zklock::detail {

/// Threads: the values are atomic, but they make sense to one thread only.
struct ClockControl {
  using rep = Clock::rep;
  static constexpr rep nobody_waits = std::numeric_limits<rep>::max();

  /// Stops the clock at `now`, or moves it there.
  static void set(rep now) noexcept;
  /// Lets the clock run again.
  static void release() noexcept;
  /// When the next timer is due, as far as Asio has looked since forget_due: never later than the true time; earlier
  /// only if a timer has been cancelled.
  static rep due() noexcept;
  static void forget_due() noexcept;
};

}  // namespace zklock::detail
