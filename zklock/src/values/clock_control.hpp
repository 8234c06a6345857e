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
  /// When the next timer is due, as far as Asio has looked since forget_due: never later than it is, and earlier only
  /// if one has been cancelled.
  static rep due() noexcept;
  static void forget_due() noexcept;
};

}  // namespace zklock::detail
