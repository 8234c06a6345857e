// The clock that leases and deadlines are measured on.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/basic_waitable_timer.hpp>

#include <chrono>
#include <optional>

namespace zklock {

/// CLOCK_BOOTTIME: never set back, and it counts the time that the machine was suspended, as the server does. While a
/// testing::ManualClock lives: what that says.
struct Clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<Clock>;
  static constexpr bool is_steady = true;

  [[nodiscard]] static time_point now() noexcept;
};

namespace detail {

/// How long Asio sleeps for a Timer: as long as it takes; under a manual clock until that wakes it.
struct WaitTraits {
  static Clock::duration to_wait_duration(const Clock::duration& wait) noexcept;
  static Clock::duration to_wait_duration(const Clock::time_point& due) noexcept {
    return to_wait_duration(due - Clock::now());
  }
};

}  // namespace detail

/// What zklock waits with, everywhere.
using Timer = boost::asio::basic_waitable_timer<Clock, detail::WaitTraits, boost::asio::any_io_executor>;

/// The moment a call gives up; nothing: never.
using Deadline = std::optional<Clock::time_point>;

/// `wait` from now: now if it is negative, and at most a hundred years, so that no sum overflows.
template <class Rep, class Period>
[[nodiscard]] Deadline after(std::chrono::duration<Rep, Period> wait) {
  constexpr std::chrono::hours longest{24 * 365 * 100};
  const std::chrono::duration<double> seconds = wait;
  if (seconds < seconds.zero()) return Clock::now();
  if (!(seconds < longest)) return Clock::now() + longest;  // not a number is for ever, too
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(wait);
}

}  // namespace zklock
