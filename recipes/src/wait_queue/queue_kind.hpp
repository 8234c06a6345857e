// Which kinds of locks wait in one queue.
#pragma once

#include <zklock/recipes/locks/lock_kind.hpp>

namespace zklock {

/// Readers and writers wait in one queue; each other kind has a queue of its own.
[[nodiscard]] constexpr bool is_same_queue(LockKind one, LockKind other) noexcept {
  const auto queue_of = [](LockKind kind) { return kind == LockKind::read ? LockKind::write : kind; };
  return queue_of(one) == queue_of(other);
}

}  // namespace zklock
