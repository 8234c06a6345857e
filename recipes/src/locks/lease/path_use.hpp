// Which kind of lock a client has on a path.
#pragma once

#include <zklock/recipes/lock_kind.hpp>

#include <atomic>
#include <memory>

namespace zklock::detail {

/// What a client uses a path for, by so many: a mutex, or a read/write lock (LockKind::write).
struct PathUse {
  LockKind kind = LockKind::mutex;
  std::atomic<int> users{0};
};

struct StopUsing {
  void operator()(PathUse* use) const noexcept { --use->users; }
};

/// That of one who stands in line, or holds. The LockCore that it comes from must outlive it.
using PathShare = std::unique_ptr<PathUse, StopUsing>;

}  // namespace zklock::detail
