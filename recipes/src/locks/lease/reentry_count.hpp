// How many times the owner of a lock has entered it.
#pragma once

#include <atomic>
#include <cstdint>

namespace zklock::detail {

/// A count that begins at one, and ends for good at zero.
///
/// Threads: any.
class ReentryCount {
 public:
  enum class Entered { yes, ended, too_often };

  explicit ReentryCount(std::uint32_t most = INT32_MAX) noexcept : most_{most} {}

  /// Enters once more.
  [[nodiscard]] Entered enter() noexcept {
    std::uint32_t count = count_;
    do {
      if (count == 0) return Entered::ended;
      if (count == most_) return Entered::too_often;
    } while (!count_.compare_exchange_weak(count, count + 1));
    return Entered::yes;
  }
  /// Leaves once. True: that was the last time.
  [[nodiscard]] bool leave() noexcept { return --count_ == 0; }
  [[nodiscard]] std::uint32_t value() const noexcept { return count_; }

 private:
  const std::uint32_t most_;
  std::atomic<std::uint32_t> count_{1};
};

}  // namespace zklock::detail
