// The owner of a lock.
#pragma once

#include <compare>
#include <cstdint>

namespace zklock {

/// Identifies the owner of a lock. The owner enters it again, by any object of the same Client on the same path.
///
/// Threads: a value.
class Owner {
 public:
  /// A new owner, equal to none before it.
  [[nodiscard]] static Owner make() noexcept;
  /// The owner of this thread's blocking calls, for the thread's life; no other thread of the process ever has the
  /// same.
  [[nodiscard]] static Owner this_thread() noexcept;

  /// Different for each owner of the process; never 0.
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

  friend auto operator<=>(Owner, Owner) noexcept = default;

 private:
  explicit Owner(std::uint64_t number) noexcept : number_{number} {}

  std::uint64_t number_;
};

}  // namespace zklock
