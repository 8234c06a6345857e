// An acquire by a lock object that keeps its lock: without the queue, if the client has kept a node. Acquires of other
// lock objects pass it by.
#pragma once

#include "kept_lock.hpp"
#include "kept_lock_node.hpp"
#include "lock_core.hpp"
#include "wait_in_queue.hpp"

#include <zklock/recipe_kit/spawn.hpp>

#include <memory>

namespace zklock {

/// What such an acquire has at hand while it is in the queue.
struct ToKeep {
  detail::KeepSettings how;
  detail::KeptLock::Front front{};
  detail::KeptLockNode::Alone alone{};  ///< if its watch is set, the node may be kept
};

/// Gives the owner the lock: by the kept node, or through the queue. It waits without a node while the client's other
/// acquires say what comes of the lock. The request must outlive the call.
[[nodiscard]] Awaitable<Result<Lease>> acquire_to_keep(const LockRequest& request, detail::KeepSettings how);

/// The same at once, in the caller's thread; null: this acquire has to wait, or to ask the server.
[[nodiscard]] std::shared_ptr<detail::LeaseShare> acquire_at_once(const std::shared_ptr<detail::LockCore>& core,
                                                                  Owner owner, LockKind kind, detail::KeepSettings how);
/// The same for a handler; false: it is still to be called.
[[nodiscard]] bool complete_at_once(const std::shared_ptr<detail::LockCore>& core, Owner owner, LockKind kind,
                                    detail::KeepSettings how, detail::Handler<Lease>& handler);

// ---- parts of it

[[nodiscard]] bool is_connected(const detail::LockCore& core);
/// Gives the owner the lock by the kept node that it has taken. Null: that cannot be granted any more, and is given
/// back.
[[nodiscard]] Awaitable<std::shared_ptr<detail::HeldLock>> grant_kept(detail::KeptLock::Taken taken, Owner owner,
                                                                      LockKind kind, detail::KeepSettings how,
                                                                      std::uint64_t attempt);
/// The node, which was granted, may be kept from now on; null: it may not.
[[nodiscard]] std::shared_ptr<detail::KeptLockNode> begin_keeping(const std::shared_ptr<detail::LockCore>& core,
                                                                  Owner owner, LockKind kind, ToKeep& to_keep,
                                                                  detail::NodePlace place);

// ---- in the queue; the request's `keeps` is not null

/// QueueNode::enqueue(); if the client was alone with the lock, by a list with a watch on the directory's children: the
/// node may be kept if it is the only one. (If a reply is lost, it is not.)
[[nodiscard]] Awaitable<error_code> enqueue_to_keep(const Session& session, const LockRequest& request,
                                                    QueueNode& queue_node, Enqueued& found);

/// By a list with a watch on the directory's children. If a reply is lost, there is no watch.
[[nodiscard]] Awaitable<error_code> enqueue_with_watch(const Session& session, const detail::LockCore& core,
                                                       QueueNode& queue_node, detail::KeptLockNode::Alone& alone,
                                                       Enqueued& found);

/// The node, which has the lock, is kept from now on, and the owner holds the lock by it; null: it may not be kept.
[[nodiscard]] std::shared_ptr<detail::HeldLock> hold_to_keep(const LockRequest& request, const Session& session,
                                                             QueueNode& queue_node);

}  // namespace zklock
