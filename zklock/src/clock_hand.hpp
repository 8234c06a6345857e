// What moves the clock by hand: testing::ManualClock, and nobody else.
#pragma once

#include <zklock/clock.hpp>

#include <atomic>
#include <limits>

namespace zklock::detail {

/// Threads: the values are atomic, but no more than one thread can make sense of them.
struct ClockHand {
  using rep = Clock::rep;
  static constexpr rep nobody_waits = std::numeric_limits<rep>::max();

  /// Stops the clock at `now`, or moves it there.
  static void set(rep now) noexcept;
  /// It runs again.
  static void let_go() noexcept;
  /// The shortest wait that Asio has asked for since the last call of this.
  static rep take_least_wait() noexcept;
};

}  // namespace zklock::detail
