// Limits log lines that may come in floods.
#pragma once

#include <zklock/clock.hpp>

#include <cstddef>
#include <optional>

namespace zklock {

/// Admits a few lines at once, and then one per interval; counts the lines that it holds back.
///
/// Threads: one at a time.
class LogLimit {
 public:
  static constexpr int at_once = 4;
  static constexpr Clock::duration interval = std::chrono::seconds{10};

  /// The line may be written; the result is the number of lines held back since the last one. Empty: hold this line
  /// back.
  [[nodiscard]] std::optional<std::size_t> admit(Clock::time_point now) noexcept;
  /// Returns the number of held-back lines that no line has reported yet, and resets it.
  [[nodiscard]] std::size_t take_held_back() noexcept;

 private:
  Clock::time_point full_again_ = Clock::time_point::min();  // when at_once lines may be written again
  std::size_t held_back_ = 0;
};

}  // namespace zklock
