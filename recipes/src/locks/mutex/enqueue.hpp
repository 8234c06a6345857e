// Creates a node in a lock's wait queue, and tells what is known of the queue then.
#pragma once

#include "lock_core.hpp"
#include "queue_node.hpp"

#include <memory>
#include <string>
#include <vector>

namespace zklock {

using Children = std::vector<std::string>;

/// The lock to wait for.
struct LockRequest {
  const detail::LockCore& core;
  LockKind kind;
  const detail::LockAttempt& told;
  bool try_once;  ///< leave the queue at once if another node is ahead
};

/// What is known of the queue once this attempt's node is in it: the local waiter directly ahead, or else the whole
/// list.
struct Enqueued {
  std::shared_ptr<LocalWaiter> ahead{};
  Children children{};
};

/// Creates the attempt's node and lists the queue in one flight; creates the directory if it is missing, and finds the
/// node again if a reply was lost.
///
/// The list may be old if the server is behind others, but is never older than the attempt's node, since the reply to
/// its create is there: the list has all nodes ahead, and perhaps some that are gone by now.
[[nodiscard]] Awaitable<Result<Children>> enqueue(Session session, const detail::LockCore& core, QueueNode& queue_node);

/// As enqueue; but if the last node in the queue is the client's own, or soon will be, that node is probably directly
/// ahead, and then nothing is listed.
[[nodiscard]] Awaitable<Result<Enqueued>> enqueue_behind_local(Session session, LockRequest request,
                                                               QueueNode& queue_node);

}  // namespace zklock
