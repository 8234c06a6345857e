#include "read_beside.hpp"

#include "sequence_number.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/session_ops.hpp>
#include <zklock/recipes/locks/lock_data.hpp>

#include <algorithm>
#include <utility>

namespace zklock {

using detail::HeldLock;
using detail::LockCore;

namespace {

Awaitable<Result<Granted>> enqueue_beside(std::shared_ptr<HeldLock> writer, const LockCore& core) {
  if (writer->is_lost()) co_return make_error_code(LockError::lock_lost);
  const Session session = writer->session();
  const std::string writers_name{node_name(writer->node().path)};
  const auto sequence = parse_sequence(writers_name, core.marker(LockKind::write));
  if (!sequence) co_return make_error_code(Error::protocol_error);
  QueueNode queue_node{session, core.path(), core.marker(LockKind::read),
                       format_lock_data({core.client().client_id(), 1}), format_sequence(*sequence)};
  queue_node.join_local_queue(core.local_queue(), LockKind::read);
  const auto enqueued = co_await queue_node.enqueue(core.naming(), EnqueueBy::list);
  if (!enqueued && enqueued.error() == Error::no_node) co_return make_error_code(LockError::lock_lost);
  if (!enqueued) co_return is_final(session.state()) ? make_error_code(LockError::lock_lost) : enqueued.error();
  const Children& children = enqueued->children;
  queue_node.on_listed(children);
  // If an operator has deleted the writer's node, its number proves nothing.
  if (std::ranges::find(children, writers_name) == children.end()) co_return make_error_code(LockError::lock_lost);
  const error_code dead = co_await prove_alive(session);
  if (writer->is_lost()) co_return make_error_code(LockError::lock_lost);
  if (dead) co_return dead;
  if (const auto waiter = queue_node.local_waiter(); waiter && waiter->is_deleted())
    co_return make_error_code(LockError::lock_lost);
  Granted granted{session, queue_node.node(), queue_node.local_waiter(), queue_node.late_node()};
  granted.writer = std::move(writer);
  queue_node.detach();
  co_return std::move(granted);
}

}  // namespace

Awaitable<Result<Lease>> read_beside(const LockRequest& request, std::shared_ptr<HeldLock> writer) {
  auto granted = co_await enqueue_beside(std::move(writer), *request.core);
  if (!granted) co_return request.told.failed(granted.error());
  co_return hold(request, std::move(*granted));
}

}  // namespace zklock
