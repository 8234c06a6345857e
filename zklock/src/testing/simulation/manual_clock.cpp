#include "clock_control.hpp"

#include <zklock/error.hpp>
#include <zklock/testing/manual_clock.hpp>
#include <zklock/timer.hpp>

#include <atomic>
#include <stdexcept>
#include <utility>

namespace zklock::testing {

using detail::ClockControl;
using namespace std::chrono_literals;

namespace {

std::atomic<bool> installed{false};

constexpr Clock::duration beginning = 1'000'000s;
constexpr Clock::duration never = std::chrono::hours{24 * 365 * 50};  // longer waits count as infinite

}  // namespace

ManualClock::ManualClock() {
  if (installed.exchange(true)) throw std::logic_error{"there is a ManualClock already"};
  ClockControl::set(beginning.count());
}

ManualClock::~ManualClock() {
  ClockControl::release();
  installed = false;
}

void ManualClock::advance(Clock::duration step) noexcept {
  ClockControl::set((Clock::now().time_since_epoch() + step).count());
  moved_ = true;
}

/// Asio checks its timers when the first of them is due by the system's clock, which is hardly ever so. A timer that is
/// due at once makes Asio check.
void ManualClock::run_ready(asio::io_context& context) {
  std::optional<Timer> wake;
  std::size_t ran = 0;
  do {
    if (std::exchange(moved_, false)) {  // also moved by what has just run
      ClockControl::forget_due();
      wake.emplace(context.get_executor(), Clock::time_point::min());
      wake->async_wait([](error_code) {});
    }
    context.restart();
    ran = context.poll();
  } while (ran > 0 || moved_);
}

std::optional<Clock::duration> ManualClock::until_next(asio::io_context& context) {
  run_ready(context);
  const Clock::time_point due{Clock::duration{ClockControl::due()}};
  if (due - Clock::now() >= never) return std::nullopt;
  return due - Clock::now();
}

void ManualClock::run_for(asio::io_context& context, Clock::duration wait) {
  const auto end = Clock::now() + wait;
  for (;;) {
    const auto next = until_next(context);
    const auto left = end - Clock::now();
    if (!next || *next > left) {
      advance(left);
      return run_ready(context);
    }
    advance(*next);
  }
}

}  // namespace zklock::testing
