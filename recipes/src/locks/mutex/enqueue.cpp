#include "enqueue.hpp"

#include "limits.hpp"
#include "queue_position.hpp"

#include <zklock/recipe_kit/session_ops.hpp>

namespace zklock {

using detail::LockCore;

namespace {

/// Kazoo does not create a directory again once it is deleted.
CreateMode mode_of_directories(LockNaming naming) {
  return naming == LockNaming::kazoo ? CreateMode::persistent : CreateMode::container;
}

/// After a create that failed: finds this attempt's node if it was created after all, or does what gives another try a
/// chance.
Awaitable<error_code> recover(Session session, const LockCore& core, QueueNode& queue_node, int& rounds_left) {
  error_code error = queue_node.error();
  if (error == Error::protocol_error) co_return error;  // the reply would be the same again
  if (outcome_of(error) == Outcome::ambiguous) {
    error = co_await queue_node.recover();
    if (error == Error::no_node) error = {};  // the create was not applied
  } else if (error == Error::no_node && --rounds_left > 0) {
    const NodeOptions directories{mode_of_directories(core.naming())};
    error = co_await create_path(session, core.path(), directories);
    if (error == Error::no_node) error = {};  // an ancestor was deleted again: another round
  } else if (is_retryable(error)) {
    error = co_await pause_before_retry(session);
  }
  co_return error;
}

}  // namespace

Awaitable<Result<Children>> enqueue(Session session, const LockCore& core, QueueNode& queue_node) {
  const std::string& directory = core.path();
  for (int rounds_left = max_rounds;;) {
    queue_node.request();
    auto [list_error, listed] = co_await session.async_get_children(directory, use_tuple);
    if (queue_node.is_enqueued() && !list_error) co_return std::move(listed.names);
    if (!queue_node.is_enqueued())
      if (const error_code error = co_await recover(session, core, queue_node, rounds_left)) co_return error;
    if (queue_node.is_enqueued()) co_return co_await list_children(session, directory);
  }
}

namespace {

/// The local waiter for which the new node has to wait; the node has no other predecessors than those of that waiter.
/// Null: list the queue.
///
/// A reader does not wait for a reader, but for the writer for which that reader waits.
std::shared_ptr<LocalWaiter> local_predecessor(const LockCore& core, const Session& session, LockKind kind,
                                               const QueueNode& queue_node) {
  const LocalQueue& local_queue = *core.local_queue();
  const auto own = queue_node.sequence();
  auto ahead = own ? local_queue.right_ahead(session, kind, *own, queue_node.asked_for()) : nullptr;
  if (ahead && kind == LockKind::read && ahead->kind() == LockKind::read) ahead = ahead->waits_for();
  return ahead;
}

}  // namespace

Awaitable<Result<Enqueued>> enqueue_behind_local(Session session, LockRequest request, QueueNode& queue_node) {
  const std::string& directory = request.core.path();
  const LocalQueue& local_queue = *request.core.local_queue();
  Enqueued enqueued_behind;
  if (request.try_once || !local_queue.leads(session, request.kind)) {
    auto children = co_await enqueue(session, request.core, queue_node);
    if (!children) co_return children.error();
    enqueued_behind.children = std::move(*children);
    co_return std::move(enqueued_behind);
  }
  for (int rounds_left = max_rounds; !queue_node.is_enqueued();) {
    queue_node.request();
    if (!co_await queue_node.answered()) {
      enqueued_behind.ahead = local_predecessor(request.core, session, request.kind, queue_node);
      if (enqueued_behind.ahead) co_return std::move(enqueued_behind);
    } else if (const error_code error = co_await recover(session, request.core, queue_node, rounds_left)) {
      co_return error;
    }
  }
  auto children = co_await list_children(session, directory);
  if (!children) co_return children.error();
  enqueued_behind.children = std::move(*children);
  co_return std::move(enqueued_behind);
}

}  // namespace zklock
