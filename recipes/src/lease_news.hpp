// What one who holds a lock waits to be told.
#pragma once

#include "holding.hpp"
#include "without_result.hpp"

namespace zklock::detail {

enum class LeaseNews { lost, revocation };

/// Waits for it: operation_aborted when the hold ends before; lock_lost for what can come no more. The session's
/// executor.
[[nodiscard]] Awaitable<Result<Done>> await_news(std::shared_ptr<Hold> hold, LeaseNews news);

}  // namespace zklock::detail
