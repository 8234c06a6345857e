// What an acquire of one owner does: enter again, go on as a reader, or wait in the queue. It is begun by start_acquire()
// of inter_process_mutex.hpp, which is in acquire.cpp.
#pragma once

#include "limits.hpp"
#include "lock_core.hpp"
#include "wait_in_queue.hpp"

#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/locks/inter_process_mutex.hpp>

#include <memory>
#include <optional>

namespace zklock {

/// Gives the owner the lock: by entering it again, by a downgrade, or through the wait queue, over as many sessions as
/// the client's retry policy allows. The deadline is kept by the caller, which cancels. Runs on the client's executor.
/// An owner that enters again, and one that keeps the lock, needs the traits of a lock.
[[nodiscard]] Awaitable<Result<Lease>> acquire(std::shared_ptr<detail::LockCore> core, Owner owner, LockKind kind,
                                               Limits limits, NodeTraits node, detail::KeepSettings keep = {});

/// Enters the lock again if the owner already holds it, maybe by the attempt that `told`, if it is not null, has waited
/// for. std::nullopt: the owner does not hold it.
[[nodiscard]] std::optional<Result<Lease>> enter_again(const detail::LockCore& core, Owner owner, LockKind kind,
                                                       detail::LockAttempt* told);

}  // namespace zklock
