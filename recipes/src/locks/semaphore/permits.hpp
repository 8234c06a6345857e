// The acquire loop of a semaphore's permits.
#pragma once

#include "limits.hpp"
#include "semaphore_core.hpp"

#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/locks/inter_process_mutex.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace zklock {

/// Acquires that many permits together, over as many sessions as the client's retry policy allows. Runs on the client's
/// executor.
[[nodiscard]] Awaitable<Result<std::vector<Lease>>> acquire_permits(std::shared_ptr<detail::SemaphoreCore> semaphore,
                                                                    std::int32_t quantity, Limits limits);

}  // namespace zklock
