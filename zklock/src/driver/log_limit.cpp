#include "log_limit.hpp"

#include <algorithm>
#include <utility>

namespace zklock {

std::optional<std::size_t> LogLimit::admit(Clock::time_point now) noexcept {
  const Clock::time_point base = std::max(full_again_, now);
  if (base - now > (at_once - 1) * interval) {
    ++held_back_;
    return std::nullopt;
  }
  full_again_ = base + interval;
  return take_held_back();
}

std::size_t LogLimit::take_held_back() noexcept { return std::exchange(held_back_, 0); }

}  // namespace zklock
