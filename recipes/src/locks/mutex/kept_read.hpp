// A read acquire by a lock object that keeps its lock silently: without the queue, if the client has kept a node for
// its readers.
#pragma once

#include "kept_lock.hpp"
#include "kept_lock_node.hpp"
#include "lock_core.hpp"
#include "wait_in_queue.hpp"

#include <zklock/recipe_kit/spawn.hpp>

#include <memory>

namespace zklock {

/// What such an acquire has at hand while it is in the queue.
struct ToKeepReading {
  detail::KeepSettings how;
  detail::KeptLockNode::Alone watched{};  ///< if its watch is set, the node may be kept: the list has shown no writer
};

/// Gives the owner the read lock: by the kept node, or through the queue. The request must outlive the call.
[[nodiscard]] Awaitable<Result<Lease>> read_to_keep(const LockRequest& request, detail::KeepSettings how);

/// The same at once, in the caller's thread; null: this acquire has to wait, or to ask the server.
[[nodiscard]] std::shared_ptr<detail::LeaseShare> read_at_once(const std::shared_ptr<detail::LockCore>& core,
                                                               Owner owner, detail::KeepSettings how);

// ---- in the queue; the request's `keeps_reading` is not null

/// QueueNode::enqueue(); where the last acquire saw no writer, by a list with a watch on the directory's children.
[[nodiscard]] Awaitable<error_code> enqueue_to_keep_reading(const Session& session, const LockRequest& request,
                                                            QueueNode& queue_node, Enqueued& found);

/// The node, which has the lock, is kept from now on, and the owner holds the lock by it; null: it may not be kept.
[[nodiscard]] std::shared_ptr<detail::HeldLock> hold_to_keep_reading(const LockRequest& request, const Session& session,
                                                                     QueueNode& queue_node);

}  // namespace zklock
