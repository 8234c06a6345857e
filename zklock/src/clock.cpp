#include "clock_hand.hpp"

#include <zklock/clock.hpp>

#include <algorithm>

#include <time.h>

namespace zklock {

namespace detail {

namespace {

constexpr ClockHand::rep running = -1;

std::atomic<ClockHand::rep> set_to{running};
std::atomic<ClockHand::rep> least_wait{ClockHand::nobody_waits};

}  // namespace

void ClockHand::set(rep now) noexcept { set_to.store(now, std::memory_order_relaxed); }
void ClockHand::let_go() noexcept { set(running); }
ClockHand::rep ClockHand::take_least_wait() noexcept {
  return least_wait.exchange(nobody_waits, std::memory_order_relaxed);
}

Clock::duration WaitTraits::to_wait_duration(const Clock::duration& wait) noexcept {
  if (set_to.load(std::memory_order_relaxed) == running) return wait;
  least_wait.store(std::min(least_wait.load(std::memory_order_relaxed), wait.count()), std::memory_order_relaxed);
  return Clock::duration::zero();
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
