// The kind of lock that a client has on a path.
#pragma once

#include <zklock/recipes/locks/lock_kind.hpp>

#include <atomic>
#include <memory>

namespace zklock::detail {

/// What a client uses a path for, and by how many users: a mutex, a latch, or a read/write lock (either of its kinds).
struct PathUse {
  LockKind kind = LockKind::mutex;
  std::atomic<int> users{0};
};

struct StopUsing {
  void operator()(PathUse* use) const noexcept { --use->users; }
};

/// The share of a waiter or a holder. The LockCore that it comes from must outlive it.
using PathShare = std::unique_ptr<PathUse, StopUsing>;

}  // namespace zklock::detail
