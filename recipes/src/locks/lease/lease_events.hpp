// The events for which the holder of a lock can wait.
#pragma once

#include "held_lock.hpp"

#include <zklock/recipe_kit/spawn.hpp>

namespace zklock::detail {

enum class LeaseEvent { lost, revocation };

/// Waits for the event. operation_aborted when the lease share ends before it; lock_lost if the event can no longer
/// come.
/// Threads: the session's executor.
[[nodiscard]] Awaitable<error_code> await_lease_event(std::shared_ptr<LeaseShare> share, LeaseEvent awaited);

/// Waits for a state other than `known`, and gives it. operation_aborted when cancelled.
/// Threads: the session's executor.
[[nodiscard]] Awaitable<Result<LeaseState>> await_lease_state(std::shared_ptr<LeaseShare> share, LeaseState known);

}  // namespace zklock::detail
