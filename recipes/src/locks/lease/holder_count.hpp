// How many holders a kept node has, and whether it drains: one atomic word.
#pragma once

#include <atomic>
#include <cstdint>

namespace zklock::detail {

/// Begins with one holder. Once it is asked for, no further holder enters; exactly one caller is told to delete the
/// node: the last holder that leaves, or the one that asks where there is none.
///
/// Threads: any.
class HolderCount {
 public:
  /// False: it is asked for, and the caller is no holder.
  [[nodiscard]] bool enter() noexcept {
    std::uint64_t word = word_;
    do {
      if (is_asked(word)) return false;
    } while (!word_.compare_exchange_weak(word, word + one));
    return true;
  }
  /// True: the caller deletes the node.
  [[nodiscard]] bool leave() noexcept { return word_.fetch_sub(one) == one + asked; }
  /// Nobody enters any more. True: the caller deletes the node.
  [[nodiscard]] bool ask() noexcept { return word_.fetch_or(asked) == 0; }

  [[nodiscard]] bool is_asked() const noexcept { return is_asked(word_); }
  [[nodiscard]] std::uint64_t holders() const noexcept { return word_ / one; }

 private:
  static constexpr std::uint64_t asked = 1;
  static constexpr std::uint64_t one = 2;
  [[nodiscard]] static bool is_asked(std::uint64_t word) noexcept { return (word & asked) != 0; }

  std::atomic<std::uint64_t> word_{one};
};

}  // namespace zklock::detail
