// Reading a lock's line, and who holds the permits of a semaphore.
#pragma once

#include "semaphore_core.hpp"

#include <zklock/client.hpp>
#include <zklock/detail/spawn.hpp>
#include <zklock/recipes/inter_process_mutex.hpp>

#include <optional>
#include <string>
#include <vector>

namespace zklock {

/// Of the line that `line` stands in, those of a kind, or all.
[[nodiscard]] Awaitable<Result<std::vector<Participant>>> list_participants(std::shared_ptr<detail::LockCore> lock,
                                                                            LockKind line,
                                                                            std::optional<LockKind> only);

/// Every node among a semaphore's leases, oldest first.
[[nodiscard]] Awaitable<Result<std::vector<Participant>>> list_permit_holders(
    std::shared_ptr<detail::SemaphoreCore> semaphore);

}  // namespace zklock
