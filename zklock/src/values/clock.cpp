#include "clock_control.hpp"

#include <zklock/timer.hpp>

#include <algorithm>

#include <time.h>

namespace zklock {

namespace detail {

namespace {

constexpr ClockControl::rep running = -1;

std::atomic<ClockControl::rep> set_to{running};
std::atomic<ClockControl::rep> next_due{ClockControl::nobody_waits};

}  // namespace

void ClockControl::set(rep now) noexcept { set_to.store(now, std::memory_order_relaxed); }
void ClockControl::release() noexcept { set(running); }
void ClockControl::forget_due() noexcept { next_due.store(nobody_waits, std::memory_order_relaxed); }
ClockControl::rep ClockControl::due() noexcept { return next_due.load(std::memory_order_relaxed); }

Clock::duration WaitTraits::to_wait_duration(const Clock::duration& wait) noexcept {
  const ClockControl::rep now = set_to.load(std::memory_order_relaxed);
  if (now == running) return wait;
  if (wait <= Clock::duration::zero()) return Clock::duration::zero();
  const ClockControl::rep due =
      wait.count() < ClockControl::nobody_waits - now ? now + wait.count() : ClockControl::nobody_waits;
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
