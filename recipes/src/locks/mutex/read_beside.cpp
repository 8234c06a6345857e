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

Awaitable<Result<Lease>> enqueue_beside(const LockRequest& request, std::shared_ptr<HeldLock> writer) {
  const LockCore& core = *request.core;
  if (writer->is_lost()) co_return make_error_code(LockError::lock_lost);
  const Session session = writer->session();
  const std::string writers_name{node_name(writer->node().path)};
  const auto sequence = parse_sequence(writers_name, core.marker(LockKind::write));
  if (!sequence) co_return make_error_code(Error::protocol_error);
  QueueNode queue_node{session, core.path(), core.marker(LockKind::read),
                       format_lock_data({core.client().client_id(), 1}), format_sequence(*sequence)};
  queue_node.join_local_queue(core.local_queue(), LockKind::read);
  Enqueued enqueued;
  const error_code failed = co_await queue_node.enqueue(core.naming(), enqueued);
  if (failed == Error::no_node) co_return make_error_code(LockError::lock_lost);
  if (failed) co_return is_final(session.state()) ? make_error_code(LockError::lock_lost) : failed;
  const Children& children = enqueued.children;
  // If an operator has deleted the writer's node, its number proves nothing.
  if (std::ranges::find(children, writers_name) == children.end()) co_return make_error_code(LockError::lock_lost);
  const error_code dead = co_await prove_alive(session);
  if (writer->is_lost()) co_return make_error_code(LockError::lock_lost);
  if (dead) co_return dead;
  if (const auto waiter = queue_node.local_waiter(); waiter && waiter->is_deleted())
    co_return make_error_code(LockError::lock_lost);
  co_return hold(request, session, queue_node, detail::NodeCheck::none_needed, writer->fencing_token());
}

}  // namespace

Awaitable<Result<Lease>> read_beside(const LockRequest& request, std::shared_ptr<HeldLock> writer) {
  auto lease = co_await enqueue_beside(request, std::move(writer));
  if (!lease) co_return request.told.failed(lease.error());
  co_return std::move(*lease);
}

}  // namespace zklock
