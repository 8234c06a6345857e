// Who owns a lock.
#pragma once

#include <compare>
#include <cstdint>

namespace zklock {

/// Whoever acquires a lock as its owner enters it again, by any object of the same Client on the same path.
///
/// Threads: a value.
class Owner {
 public:
  /// A new one, equal to none before it.
  [[nodiscard]] static Owner make() noexcept;
  /// That of the blocking calls of this thread, for its life; no other thread of the process ever has the same.
  [[nodiscard]] static Owner this_thread() noexcept;

  friend auto operator<=>(Owner, Owner) noexcept = default;

 private:
  explicit Owner(std::uint64_t number) noexcept : number_{number} {}

  std::uint64_t number_;
};

}  // namespace zklock
