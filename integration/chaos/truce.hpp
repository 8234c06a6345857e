// The times without faults.
#pragma once

#include <algorithm>
#include <chrono>

namespace zklock::chaos {

/// At the end of each period there is a truce: faults end when it begins, and none begins in it. A fault has effects
/// for some seconds after its end, so what is left of a truce is shorter: a tenth of the time in all.
struct Truces {
  using Time = std::chrono::milliseconds;
  Time period{40'000};
  Time length{12'000};

  /// That length, but only up to the next truce; zero during a truce. `now` is the time since the start.
  [[nodiscard]] constexpr Time shorten(Time length_of_fault, Time now) const {
    return std::clamp(period - length - now % period, Time{0}, length_of_fault);
  }
  /// How long the current truce still lasts; zero when there is none.
  [[nodiscard]] constexpr Time left(Time now) const {
    const Time passed = now % period;
    return passed < period - length ? Time{0} : period - passed;
  }
};

}  // namespace zklock::chaos
