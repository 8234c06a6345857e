#include "clock_hand.hpp"

#include <zklock/clock.hpp>

#include <algorithm>

#include <time.h>

namespace zklock {

namespace detail {

namespace {

constexpr ClockHand::rep running = -1;

std::atomic<ClockHand::rep> set_to{running};
std::atomic<ClockHand::rep> next_due{ClockHand::nobody_waits};

}  // namespace

void ClockHand::set(rep now) noexcept { set_to.store(now, std::memory_order_relaxed); }
void ClockHand::let_go() noexcept { set(running); }
void ClockHand::forget_due() noexcept { next_due.store(nobody_waits, std::memory_order_relaxed); }
ClockHand::rep ClockHand::due() noexcept { return next_due.load(std::memory_order_relaxed); }

Clock::duration WaitTraits::to_wait_duration(const Clock::duration& wait) noexcept {
  const ClockHand::rep now = set_to.load(std::memory_order_relaxed);
  if (now == running) return wait;
  if (wait <= Clock::duration::zero()) return Clock::duration::zero();
  const ClockHand::rep due =
      wait.count() < ClockHand::nobody_waits - now ? now + wait.count() : ClockHand::nobody_waits;
  next_due.store(std::min(next_due.load(std::memory_order_relaxed), due), std::memory_order_relaxed);
  return std::chrono::hours{1};
}

}  // namespace detail

Clock::time_point Clock::now() noexcept {
  if (const auto set = detail::set_to.load(std::memory_order_relaxed); set != detail::running)
    return time_point{duration{set}};
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return time_point{std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec}};
}

}  // namespace zklock
