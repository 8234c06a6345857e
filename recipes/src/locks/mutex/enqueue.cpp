// How an attempt's node gets into the queue.
#include "limits.hpp"
#include "wait_in_queue.hpp"

#include <zklock/recipe_kit/retry_loop.hpp>
#include <zklock/recipe_kit/session_ops.hpp>

#include <utility>

namespace zklock {

using detail::KeptLockNode;
using detail::LockCore;

namespace {

/// Kazoo does not create a directory again once it is deleted.
CreateMode mode_of_directories(LockNaming naming) {
  return naming == LockNaming::kazoo ? CreateMode::persistent : CreateMode::container;
}

}  // namespace

Awaitable<error_code> recover(Session session, const LockCore& core, QueueNode& queue_node, int& rounds_left) {
  error_code error = queue_node.error();
  if (error == Error::protocol_error) co_return error;  // the reply would be the same again
  // A reader beside its writer has one name: a leader has carried out late what was lost [F16b].
  const bool was_made_late = error == Error::node_exists && --rounds_left > 0;
  if (outcome_of(error) == Outcome::ambiguous || was_made_late) {
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

Awaitable<Result<Children>> enqueue(Session session, const LockCore& core, QueueNode& queue_node, EnqueueBy how) {
  const std::string& directory = core.path();
  for (int rounds_left = max_rounds;;) {
    queue_node.request();
    if (how == EnqueueBy::watch_and_list) core.local_queue()->watch(session, directory);
    auto [list_error, listed] = co_await session.async_get_children(directory, use_tuple);
    if (queue_node.is_enqueued() && !list_error) co_return std::move(listed.names);
    if (!queue_node.is_enqueued())
      if (const error_code error = co_await recover(session, core, queue_node, rounds_left)) co_return error;
    if (queue_node.is_enqueued()) co_return co_await list_children(session, directory);
  }
}

Awaitable<Result<Children>> enqueue_to_keep(Session session, const LockCore& core, QueueNode& queue_node,
                                            KeptLockNode::Alone& alone) {
  alone.connection = session.connection();
  queue_node.request();
  auto [list_error, listed, watch] = co_await session.async_get_children_and_watch(core.path(), use_tuple);
  if (!queue_node.is_enqueued() || list_error) {
    int rounds_left = max_rounds;
    if (!queue_node.is_enqueued())
      if (const error_code error = co_await recover(session, core, queue_node, rounds_left)) co_return error;
    if (queue_node.is_enqueued()) co_return co_await list_children(session, core.path());
    co_return co_await enqueue(session, core, queue_node);
  }
  alone.watch = std::move(watch);
  co_return std::move(listed.names);
}

}  // namespace zklock
