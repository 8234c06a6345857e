#include "wait_in_queue.hpp"

#include "kept_acquire.hpp"
#include "kept_read.hpp"
#include "queue_position.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/retry_loop.hpp>
#include <zklock/recipe_kit/session_ops.hpp>
#include <zklock/recipes/locks/lock_data.hpp>

#include <optional>
#include <utility>

namespace zklock {

using detail::HeldLock;
using detail::LeaseShare;
using detail::LockCore;

namespace {

enum class Wakeup { confirmed, hint };

/// Waits until the predecessor is gone, or may be. The watch is on its children, not its data: that fires on deletion
/// alone, and leaves no watch where there is no node.
Awaitable<Result<Wakeup>> wait_for(Session session, std::string predecessor) {
  auto [error, children, watch] = co_await session.async_get_children_and_watch(predecessor, use_tuple);
  if (error == Error::no_node) co_return Wakeup::confirmed;
  if (is_retryable(error)) {
    error = co_await wait_connected(session);
    if (error) co_return error;
    co_return Wakeup::hint;
  }
  if (error) co_return error;
  const auto [ended, event] = co_await watch.async_wait(use_tuple);
  if (ended) co_return ended;
  co_return event.type == WatchEventType::node_deleted ? Wakeup::confirmed : Wakeup::hint;
}

/// Waits until a local waiter has left the queue, or its node was deleted by others. handoff.hpp has the steps by which
/// its release wakes this one.
Awaitable<error_code> wait_for_local(std::shared_ptr<LocalWaiter> ahead, Session session,
                                     std::weak_ptr<LocalWaiter> own) {
  const auto wake_up = LocalWaiter::add_waiter(ahead, session, std::move(own));
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  while (!ahead->has_left() && !ahead->is_deleted()) {
    if (is_final(session.state())) co_return error_of(session.state());
    if (cancellation.cancelled() != asio::cancellation_type::none)
      co_return make_error_code(asio::error::operation_aborted);
    co_await wake_up->wait();
  }
  co_return error_code{};
}

bool is_certainly_alive(const Session& session) {
  return session.state() == SessionState::connected && Clock::now() < session.valid_until();
}

error_code check_sequence(std::optional<std::int32_t> sequence) {
  if (!sequence) return make_error_code(Error::protocol_error);
  const bool in_order = *sequence >= 0 && *sequence <= last_safe_sequence;
  return in_order ? error_code{} : make_error_code(LockError::sequence_exhausted);
}

/// Whether other nodes may block this one when the holder's is gone: readers, for a writer.
bool may_leave_others(LockKind holder, LockKind behind) {
  return holder == LockKind::read || (holder == LockKind::write && behind == LockKind::write);
}

/// Waits until this attempt has the lock, without another list of the queue, or may have it. A local predecessor that
/// leaves wakes this waiter without a reply from the server: its delete is sent ahead of whatever this waiter requests,
/// all other clients wait behind both nodes, and both nodes are deleted with the same session.
Awaitable<Result<Wakeup>> wait_turn(Session session, const LockCore& core, const QueuePosition& position, LockKind kind,
                                    std::shared_ptr<LocalWaiter> ahead, std::weak_ptr<LocalWaiter> own) {
  bool decides = position.only_predecessor;  // false without a list: then only a predecessor with the lock decides
  if (ahead) {
    if (const error_code ended = co_await wait_for_local(ahead, session, std::move(own))) co_return ended;
    // All that was ahead of a node with the lock was gone, but for those that it shares the lock with. A node that was
    // deleted by others may have gone with its directory, and this one with it.
    decides = !ahead->is_deleted() && (decides || (ahead->was_granted() && !may_leave_others(ahead->kind(), kind)));
  } else {
    const auto gone = co_await wait_for(session, join_path(core.path(), position.predecessor));
    if (!gone) co_return gone.error();
    decides = decides && *gone == Wakeup::confirmed;
  }
  const bool ours = decides && is_certainly_alive(session);
  co_return ours ? Wakeup::confirmed : Wakeup::hint;
}

/// Whether the node ahead is the client's own, and was given up while this node was requested: one try waits for its
/// delete.
bool is_leaving(const QueueNode& queue_node, std::string_view predecessor) {
  const auto& ahead = queue_node.right_ahead().node;
  return ahead && ahead->has_left_since(queue_node.requested_at()) && node_name(ahead->path()) == predecessor;
}

/// Waits until the node is first, beginning with what is known of its place.
Awaitable<error_code> wait_until_first(Session session, const LockRequest& request, const QueueNode& queue_node,
                                       Enqueued enqueued, Granted& granted) {
  const LockCore& core = *request.core;
  for (auto& [place, ahead, children] = enqueued;;) {
    QueuePosition position;
    if (granted.local_waiter) granted.local_waiter->forget_handoff();
    if (!ahead) {
      queue_node.on_listed(children);
      position = find_position(children, queue_node.name(), request.kind, core.naming());
      if (!position.of_other_kind.empty()) warn_of_other_kind(core, request.kind, session, position.of_other_kind);
      if (position.verdict == QueuePosition::Verdict::missing) co_return make_error_code(LockError::lock_lost);
      if (position.verdict == QueuePosition::Verdict::first) {
        granted.stepped_back = request.node.steps_back && request.node.steps_back(children, queue_node.name());
        if (granted.stepped_back && request.limits.try_once) co_return make_error_code(Error::timed_out);
        break;
      }
      ahead = core.local_queue()->find(session, request.kind, position.predecessor_sequence, position.predecessor);
    }
    if (request.keeps && !ahead) request.keeps->front.lock()->on_stranger();
    const std::string_view predecessor = ahead ? node_name(ahead->path()) : std::string_view{position.predecessor};
    if (request.limits.try_once && !is_leaving(queue_node, predecessor)) {
      core.local_queue()->try_failed(predecessor);
      co_return make_error_code(Error::timed_out);
    }
    request.told.waits(session, queue_node.node().path, ahead ? ahead->path() : position.predecessor);
    const auto woken = co_await wait_turn(session, core, position, request.kind, ahead, granted.local_waiter);
    if (!woken) co_return woken.error();
    if (*woken == Wakeup::confirmed && !request.node.steps_back) {
      granted.node_check = ahead ? Granted::NodeCheck::by_handoff : Granted::NodeCheck::by_server;
      break;
    }
    ahead.reset();
    // A wake-up is a hint: the session may be over [F45], which prove_alive() detects at the end.
    auto listed = co_await list_children(session, core.path());
    if (!listed && listed.error() == Error::no_node) co_return make_error_code(LockError::lock_lost);
    if (!listed) co_return listed.error();
    children = std::move(*listed);
  }
  co_return error_code{};
}

/// The last try has failed, so this one will, too, unless a list shows otherwise. (A node of the client that is being
/// made may be one that is about to leave.)
bool is_likely_to_fail(const LockRequest& request) {
  LocalQueue& local_queue = *request.core->local_queue();
  return request.limits.try_once && local_queue.has_try_failed() && !local_queue.is_making_node();
}

/// The list is no older than the try, so that a lock that was free before the try is not missed.
Awaitable<error_code> look_before_try(Session session, const LockRequest& request) {
  LocalQueue& local_queue = *request.core->local_queue();
  const auto children = co_await list_children_fresh(session, request.core->path());
  if (!children) co_return children.error() == Error::no_node ? error_code{} : children.error();
  local_queue.late_nodes().on_listed(session, *children);
  const std::string ahead = find_last_blocking(*children, request.kind, request.core->naming());
  const bool goes_on = ahead.empty() || local_queue.has_left(ahead) || local_queue.is_to_be_asked(ahead);
  co_return goes_on ? error_code{} : make_error_code(Error::timed_out);
}

/// One attempt, on one session: if that session ends, the attempt fails with it.
Awaitable<Result<Granted>> attempt(Session session, const LockRequest& request) {
  if (is_likely_to_fail(request))
    if (const error_code error = co_await look_before_try(session, request)) co_return error;
  const LockCore& core = *request.core;
  const NodeTraits& traits = request.node;
  QueueNode queue_node{session, core.path(), core.marker(request.kind), traits.data, {}, traits.prefix};
  queue_node.join_local_queue(core.local_queue(), request.kind);
  const EnqueueBy how = core.local_queue()->how_to_enqueue(session, request.kind);
  auto enqueuing = request.keeps           ? enqueue_to_keep(session, request, queue_node, how)
                   : request.keeps_reading ? enqueue_to_keep_reading(session, request, queue_node, how)
                                           : queue_node.enqueue(core.naming(), how);
  auto enqueued = co_await std::move(enqueuing);
  // This node is gone with the directory: the directory was empty, and reaped.
  if (!enqueued && enqueued.error() == Error::no_node && !queue_node.error())
    co_return make_error_code(LockError::lock_lost);
  if (!enqueued) co_return enqueued.error();
  if (const error_code error = check_sequence(queue_node.sequence())) co_return error;
  request.told.enqueued(session, queue_node.node().path);
  Granted granted{session, queue_node.node(), queue_node.local_waiter(), queue_node.late_node()};
  if (enqueued->place != PlaceByNumber::first) {
    auto waiting = wait_until_first(session, request, queue_node, std::move(*enqueued), granted);
    if (const error_code error = co_await std::move(waiting)) co_return error;
    if (granted.stepped_back) co_return std::move(granted);
  }
  if (const error_code dead = co_await prove_alive(session)) co_return dead;
  if (granted.local_waiter && granted.local_waiter->is_deleted()) co_return make_error_code(LockError::lock_lost);
  core.local_queue()->granted();
  queue_node.detach();
  co_return std::move(granted);
}

}  // namespace

Awaitable<Result<Lease>> wait_in_queue(const LockRequest& request) {
  const LockCore& core = *request.core;
  detail::RetryLoop loop{core.client(), "acquire", core.path(), request.limits.deadline};
  for (;;) {
    const auto session = co_await loop.session();
    if (!session) co_return request.told.failed(session.error());  // it has used up its time: not to be retried
    auto granted = co_await attempt(*session, request);
    while (granted && granted->stepped_back) granted = co_await attempt(*session, request);
    if (granted) co_return hold(request, std::move(*granted));
    if (!may_start_over(granted.error())) co_return request.told.failed(granted.error());
    if (const error_code error = co_await loop.next(granted.error())) co_return request.told.failed(error);
  }
}

Lease hold(const LockRequest& request, Granted granted) {
  if (request.keeps)
    if (const auto held_lock = hold_to_keep(request, granted)) return to_lease(request, held_lock);
  if (request.keeps_reading)
    if (const auto held_lock = hold_to_keep_reading(request, granted)) return to_lease(request, held_lock);
  const auto held_lock = HeldLock::make(request.core, request.owner, request.kind, std::move(granted.session),
                                        std::move(granted.node), request.told);
  held_lock->keep(std::move(request.share));
  if (request.keeps) held_lock->keep(std::move(request.keeps->front));
  held_lock->set_local_waiter(std::move(granted.local_waiter));
  held_lock->expect_late_node(std::move(granted.late_node));
  if (granted.writer) held_lock->take_token_of(*granted.writer);
  Lease lease = to_lease(request, held_lock);
  if (granted.node_check == Granted::NodeCheck::by_handoff) held_lock->await_handoff();
  if (granted.node_check == Granted::NodeCheck::by_server) held_lock->ask_server();
  return lease;
}

Lease to_lease(const LockRequest& request, const std::shared_ptr<HeldLock>& held_lock) {
  request.core->add(held_lock);
  request.told.granted(*held_lock);
  return Lease{std::make_shared<LeaseShare>(held_lock)};
}

NodeTraits::NodeTraits(const ClientHandle& client) : NodeTraits{format_lock_data({client.client_id(), 1})} {}

bool may_start_over(error_code error) {
  return is_retryable(error) || error == Error::session_expired || error == LockError::lock_lost;
}

}  // namespace zklock
