// One who wants permits of a semaphore: the acquire loop.
#pragma once

#include "limits.hpp"
#include "semaphore_core.hpp"

#include <zklock/detail/spawn.hpp>
#include <zklock/recipes/inter_process_mutex.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace zklock {

/// Takes so many permits together, over as many sessions as the client's retry policy allows. Runs on the client's
/// executor.
[[nodiscard]] Awaitable<Result<std::vector<Lease>>> acquire_permits(std::shared_ptr<detail::SemaphoreCore> semaphore,
                                                                    std::int32_t quantity, Limits limits);

}  // namespace zklock
