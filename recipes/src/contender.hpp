// One who wants a lock: the acquire loop.
#pragma once

#include "limits.hpp"
#include "lock_core.hpp"

#include <zklock/detail/spawn.hpp>
#include <zklock/recipes/inter_process_mutex.hpp>

#include <memory>

namespace zklock {

/// Of making a directory that is reaped again at once (docs/faults.md 9).
inline constexpr int most_rounds = 16;

/// After an attempt has failed: a new one, at the end of the line, may succeed.
[[nodiscard]] bool may_start_over(error_code error);

/// Gives the owner the lock: by entering again, beside what it holds already, or in line, over as many sessions as the
/// client's retry policy allows. The deadline is kept by somebody else, who cancels. Runs on the client's executor.
[[nodiscard]] Awaitable<Result<Lease>> acquire(std::shared_ptr<detail::LockCore> core, Owner owner, LockKind kind,
                                               Limits limits);

}  // namespace zklock
