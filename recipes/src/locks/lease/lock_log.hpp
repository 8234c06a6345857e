// The log lines of a lock's events.
#pragma once

#include "lock_target.hpp"

#include <zklock/recipes/locks/lock_observer.hpp>

namespace zklock::detail {

/// The target's client has a logger. Threads: any.
void log_event(const LockTarget& lock, const LockEvent& event) noexcept;

}  // namespace zklock::detail
