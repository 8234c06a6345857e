// An acquire by a lock object that keeps its lock: without the queue, if the client has kept a node.
#pragma once

#include "kept_lock.hpp"
#include "limits.hpp"
#include "lock_core.hpp"
#include "wait_in_queue.hpp"

#include <zklock/recipe_kit/spawn.hpp>

#include <memory>

namespace zklock {

/// What such an acquire does: it has the lock, or goes to the queue.
struct LocalOutcome {
  std::shared_ptr<detail::HeldLock> held_lock{};
  detail::KeptLock::Front front{};
  bool enters_again = false;  ///< or its owner has got the lock meanwhile, or is about to
};

/// Waits without a node while the client's other acquires say what comes of the lock. Errors: operation_aborted;
/// timed_out for a try.
[[nodiscard]] Awaitable<Result<LocalOutcome>> acquire_locally(std::shared_ptr<detail::LockCore> core, Owner owner,
                                                              LockKind kind, Limits limits, detail::KeepSettings keep,
                                                              std::uint64_t attempt);

/// The same at once, in the caller's thread; null: this acquire has to wait, or to ask the server.
[[nodiscard]] std::shared_ptr<detail::LeaseShare> acquire_at_once(const std::shared_ptr<detail::LockCore>& core,
                                                                  Owner owner, LockKind kind,
                                                                  detail::KeepSettings keep);

/// The lock object does not keep the lock, or keeps another kind of it: the client gives up the node that it keeps,
/// ahead of what this one requests.
void ask_for_kept(const detail::LockCore& core, LockKind kind, detail::KeepSettings keep);

/// What was granted may be kept from now on; null: it may not.
[[nodiscard]] std::shared_ptr<detail::HeldLock> hold_to_keep(const std::shared_ptr<detail::LockCore>& core, Owner owner,
                                                             LockKind kind, detail::KeepSettings keep, Granted& granted,
                                                             detail::PathShare& share, detail::KeptLock::Front& front,
                                                             std::uint64_t attempt);

}  // namespace zklock
