// The downgrade: the owner of the write lock acquires the read lock, too.
#pragma once

#include "held_lock.hpp"
#include "wait_in_queue.hpp"

#include <zklock/recipe_kit/spawn.hpp>

#include <memory>

namespace zklock {

/// Acquires the read lock for the owner of the write lock. The writer's queue position is ahead of all waiters, and so
/// is the reader's, which has the same number: no other client can get the lock in between when the writer's node is
/// deleted (Curator's way).
///
/// An owner that was told that it has lost the write lock does not get the read lock by it, though the writer's node
/// may still exist. The request must outlive the call.
[[nodiscard]] Awaitable<Result<Lease>> read_beside(const LockRequest& request,
                                                   std::shared_ptr<detail::HeldLock> writer);

}  // namespace zklock
