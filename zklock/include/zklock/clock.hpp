// The clock of leases and deadlines.
#pragma once

#include <chrono>
#include <optional>

namespace zklock {

/// CLOCK_BOOTTIME: it is never set back, and it counts the time in which the machine was suspended, as the server does.
/// While a testing::ManualClock exists, it shows that clock's time.
struct Clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<Clock>;
  static constexpr bool is_steady = true;

  [[nodiscard]] static time_point now() noexcept;
};

/// The moment at which a call gives up; empty: never.
using Deadline = std::optional<Clock::time_point>;

/// The time `wait` from now. A negative `wait` counts as zero, and a long one as a hundred years, so that no sum
/// overflows.
template <class Rep, class Period>
[[nodiscard]] Deadline after(std::chrono::duration<Rep, Period> wait) {
  constexpr std::chrono::hours longest{24 * 365 * 100};
  const std::chrono::duration<double> seconds = wait;
  if (seconds < seconds.zero()) return Clock::now();
  if (!(seconds < longest)) return Clock::now() + longest;  // NaN is for ever, too
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(wait);
}

}  // namespace zklock
