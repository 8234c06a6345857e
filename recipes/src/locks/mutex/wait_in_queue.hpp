// Waiting for a lock: an attempt's node in the wait queue until it is first.
#pragma once

#include "enqueue.hpp"

#include <zklock/client.hpp>
#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/session.hpp>

#include <memory>

namespace zklock {

/// What an attempt is granted.
struct Granted {
  Session session{};
  CreateResult node{};
  std::shared_ptr<LocalWaiter> local_waiter{};
  bool is_unverified = false;  ///< the predecessor is gone, but the server has not said that this node still exists
};

/// Whether, after this error of an attempt, a new attempt at the end of the queue may succeed.
[[nodiscard]] bool may_start_over(error_code error);

/// Waits in the queue until granted: by one attempt after another, each on one session.
[[nodiscard]] Awaitable<Result<Granted>> wait_in_queue(ClientHandle client, LockRequest request, Deadline deadline);

}  // namespace zklock
