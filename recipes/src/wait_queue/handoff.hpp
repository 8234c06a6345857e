// The handoff of a lock to local waiters, that is, waiters of the same client and session: the delete of the leaving
// waiter's node. (A kept lock is handed on without its node: kept_lock.cpp.) Step by step:
//
//   NodePlace::remove, depart      takes the local waiters behind it, and dequeues it       node_place.cpp
//   LocalWaiter::dequeue_and_wake  posts their wake-up                                      local_waiter.cpp
//   hand_off                       one request, ahead of theirs: check their nodes, delete  handoff.cpp
//   wait_turn                      decides whether the lock is theirs, without a reply      wait_in_queue.cpp
//   HeldLock::await_handoff        their leases are out; the reply confirms or ends them    held_lock.cpp
//   LocalWaiter::learn             brings what the reply tells and a lease together         local_waiter.cpp
//   fact_of, on_reply ...          what the reply means, and what a lease then does         handoff_state.cpp
//
// A node that is made while the one ahead leaves is not among those. Its number may tell that it is first
// (position_behind in queue_position.cpp); otherwise it waits for the other node to go, as any waiter, or lists again.
#pragma once

#include "local_waiter.hpp"

#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/session.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace zklock {

/// One waiter, or several readers behind a writer.
using Successors = std::vector<std::shared_ptr<LocalWaiter>>;

/// Deletes the node of `leaving` in one request, if the nodes of its successors exist; each successor is told whether
/// its own node does. If that fails, the node is deleted all the same. `removed` is told as by remove_in_background().
///
/// If an operator has deleted a successor's node, the successor knows it before the delete lets another client in, as
/// long as the link is up. If there are several such successors, the first one knows it then, the others soon after.
void hand_off(Session session, std::shared_ptr<LocalWaiter> leaving, Successors successors,
              std::function<void(error_code)> removed);

}  // namespace zklock
