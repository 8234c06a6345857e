// Lines of a log that may come in floods.
#pragma once

#include <zklock/clock.hpp>

#include <cstddef>
#include <optional>

namespace zklock {

/// Lets a few lines through at once, and then one in a while; counts those that it holds back.
///
/// Threads: one at a time.
class LogLimit {
 public:
  static constexpr int at_once = 4;
  static constexpr Clock::duration interval = std::chrono::seconds{10};

  /// The line may be written: so many were held back since the last one. Nothing: this one is held back, too.
  [[nodiscard]] std::optional<std::size_t> admit(Clock::time_point now) noexcept;
  /// Those held back that no line has told of yet.
  [[nodiscard]] std::size_t take_held_back() noexcept;

 private:
  Clock::time_point full_again_ = Clock::time_point::min();  // when at_once lines may be written again
  std::size_t held_back_ = 0;
};

}  // namespace zklock
