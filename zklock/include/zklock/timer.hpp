// The timer of all waits. It is not in clock.hpp: Asio's timers would be a fifth of the text of most public headers.
#pragma once

#include <zklock/clock.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/basic_waitable_timer.hpp>

namespace zklock {

namespace detail {

/// How long Asio sleeps for a Timer: until it is due; under a manual clock, until that clock wakes it.
struct WaitTraits {
  static Clock::duration to_wait_duration(const Clock::duration& wait) noexcept;
  static Clock::duration to_wait_duration(const Clock::time_point& due) noexcept {
    return to_wait_duration(due - Clock::now());
  }
};

}  // namespace detail

/// The timer of all of zklock's waits.
using Timer = boost::asio::basic_waitable_timer<Clock, detail::WaitTraits, boost::asio::any_io_executor>;

}  // namespace zklock
