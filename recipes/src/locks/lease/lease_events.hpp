// The events for which the holder of a lock can wait.
#pragma once

#include "held_lock.hpp"
#include "without_result.hpp"

namespace zklock::detail {

enum class LeaseEvent { lost, revocation };

/// Waits for the event. operation_aborted when the lease share ends before it; lock_lost if the event can no longer
/// come.
/// Threads: the session's executor.
[[nodiscard]] Awaitable<Result<Done>> await_lease_event(std::shared_ptr<LeaseShare> share, LeaseEvent awaited);

}  // namespace zklock::detail
