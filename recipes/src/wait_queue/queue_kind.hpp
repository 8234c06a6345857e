// Which kinds of locks wait in one queue, and for one another.
#pragma once

#include <zklock/recipes/locks/lock_kind.hpp>

namespace zklock {

/// Readers and writers wait in one queue; each other kind has a queue of its own.
[[nodiscard]] constexpr bool is_same_queue(LockKind one, LockKind other) noexcept {
  const auto queue_of = [](LockKind kind) { return kind == LockKind::read ? LockKind::write : kind; };
  return queue_of(one) == queue_of(other);
}

/// Of two nodes of these kinds one waits for the other: readers share. Permits do not wait for one another.
[[nodiscard]] constexpr bool exclude_each_other(LockKind one, LockKind other) noexcept {
  const bool share = one == other && (one == LockKind::read || one == LockKind::permit);
  return is_same_queue(one, other) && !share;
}

}  // namespace zklock
