// What a held lock is made of.
#pragma once

#include "kept_lock.hpp"
#include "local_waiter.hpp"
#include "path_use.hpp"

#include <zklock/clock.hpp>
#include <zklock/recipe_kit/protected_path.hpp>
#include <zklock/session.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace zklock::detail {

/// What is to say that a node that has the lock still exists.
enum class NodeCheck {
  none_needed,
  by_handoff,  ///< its local predecessor has left: the reply to that one's delete tells, or else the server is asked
  by_server,   ///< its predecessor is gone, and the server was not asked since
};

/// A node that has the lock, and what comes with it.
struct Granted {
  Session session{};
  CreateResult node{};
  NodeCheck check = NodeCheck::none_needed;
  std::shared_ptr<LocalWaiter> local_waiter{};
  /// A leader may make a second node of the attempt late: it is looked for when this one is deleted. Null: none.
  std::shared_ptr<const ProtectedPath> late_node{};
  /// Of a reader that has the queue position of its owner's writer: the writer's. Its node was created later than those
  /// of waiting writers, but comes before them.
  std::optional<std::int64_t> token{};
  Clock::duration max_hold{};  ///< zero or less: no limit
  PathShare share{};           ///< kept until the delete is sent
  KeptLock::Front front{};     ///< the client's acquires that wait without nodes wait for this lock's end
};

}  // namespace zklock::detail
