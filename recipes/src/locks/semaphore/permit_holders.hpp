// Lists the holders of a semaphore's permits.
#pragma once

#include "semaphore_core.hpp"

#include <zklock/clock.hpp>
#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/locks/participant.hpp>

#include <memory>
#include <vector>

namespace zklock {

/// Every node among a semaphore's leases, oldest first. Tries again as the client's retry policy says; the
/// code that runs the coroutine cancels it at the deadline.
[[nodiscard]] Awaitable<Result<std::vector<LockParticipant>>> list_permit_holders(
    std::shared_ptr<detail::SemaphoreCore> semaphore, Deadline deadline);

}  // namespace zklock
