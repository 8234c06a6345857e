#include "../clock_hand.hpp"

#include <zklock/testing/manual_clock.hpp>

#include <algorithm>
#include <atomic>
#include <stdexcept>

namespace zklock::testing {

using detail::ClockHand;
using namespace std::chrono_literals;

namespace {

std::atomic<bool> installed{false};

constexpr Clock::duration beginning = 1'000'000s;
constexpr Clock::duration never = std::chrono::hours{24 * 365 * 50};  // waits that long are meant for ever

}  // namespace

ManualClock::ManualClock() {
  if (installed.exchange(true)) throw std::logic_error{"there is a ManualClock already"};
  ClockHand::set(beginning.count());
}

ManualClock::~ManualClock() {
  ClockHand::let_go();
  installed = false;
}

void ManualClock::advance(Clock::duration step) noexcept {
  ClockHand::set((Clock::now().time_since_epoch() + step).count());
}

void ManualClock::run_ready(asio::io_context& context) {
  do {
    ClockHand::take_least_wait();
    context.restart();
  } while (context.poll() > 0);
}

std::optional<Clock::duration> ManualClock::until_next(asio::io_context& context) {
  run_ready(context);  // whose last poll found nothing but timers
  const Clock::duration least{ClockHand::take_least_wait()};
  if (least >= never) return std::nullopt;
  return std::max(least, Clock::duration::zero());
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
