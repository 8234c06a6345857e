// So many a second, and no more.
#pragma once

#include <zklock/clock.hpp>

#include <algorithm>

namespace zklock {

/// Gives out turns: as many as `burst` at once, then one each `interval`. Whoever comes too early is told when.
class RateLimit {
 public:
  RateLimit(Clock::duration interval, int burst) noexcept : interval_{interval}, allowance_{interval * (burst - 1)} {}

  /// The time of the caller's turn: now, or later.
  [[nodiscard]] Clock::time_point take_turn(Clock::time_point now) noexcept {
    const auto turn = std::max(now, next_ - allowance_);
    next_ = std::max(next_, turn) + interval_;
    return turn;
  }

 private:
  Clock::duration interval_;
  Clock::duration allowance_;
  Clock::time_point next_{};
};

}  // namespace zklock
