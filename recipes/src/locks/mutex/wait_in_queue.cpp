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

using detail::Granted;
using detail::HeldLock;
using detail::LeaseShare;
using detail::LockCore;
using detail::NodeCheck;

namespace {

enum class Predecessor { gone, may_be_gone };

// A crowd may wait for one lock, so these coroutines keep little while they wait: there are few of them, what they are
// given is their caller's, which waits for them, and what is awaited is a variable, without temporaries beside it.

/// Waits until the predecessor is gone, or may be. The watch is on its children, not its data: that fires on deletion
/// alone, and leaves no watch where there is no node.
Awaitable<Result<Predecessor>> wait_for(const Session& session, std::string predecessor) {
  auto [error, children, watch] = co_await session.async_get_children_and_watch(predecessor, use_tuple);
  if (error == Error::no_node) co_return Predecessor::gone;
  if (is_retryable(error)) {
    error = co_await wait_connected(session);
    if (error) co_return error;
    co_return Predecessor::may_be_gone;
  }
  if (error) co_return error;
  const auto [ended, event] = co_await watch.async_wait(use_tuple);
  if (ended) co_return ended;
  co_return event.type == WatchEventType::node_deleted ? Predecessor::gone : Predecessor::may_be_gone;
}

/// Why a wait for a local waiter is over though that one is still there; success: it goes on.
error_code end_of_wait(const Session& session, const asio::cancellation_state& cancellation) {
  if (is_final(session.state())) return error_of(session.state());
  const bool is_cancelled = cancellation.cancelled() != asio::cancellation_type::none;
  return is_cancelled ? asio::error::operation_aborted : error_code{};
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

/// Whether this attempt has the lock, without another list of the queue, now that the predecessor is gone. A local
/// predecessor that leaves wakes this waiter without a reply from the server: its delete is sent ahead of whatever this
/// waiter requests, all other clients wait behind both nodes, and both nodes are deleted with the same session.
bool is_our_turn(const Session& session, const LocalPosition& position, LockKind kind) {
  const auto& ahead = position.ahead;
  // A node that was deleted by others may have gone with its directory, and this one with it.
  if (!is_certainly_alive(session) || (ahead && ahead->is_deleted())) return false;
  if (position.only_predecessor) return true;  // never without a list: then only a predecessor with the lock decides
  // All that was ahead of a node with the lock was gone, but for those that it shares the lock with.
  return ahead && ahead->was_granted() && !may_leave_others(ahead->kind(), kind);
}

/// Whether the node ahead is the client's own, and was given up while this node was requested: one try waits for its
/// delete.
bool is_leaving(const QueueNode& queue_node, std::string_view predecessor) {
  const auto& ahead = queue_node.right_ahead().node;
  return ahead && ahead->has_left_since(queue_node.requested_at()) && node_name(ahead->path()) == predecessor;
}

void warn_if_mixed(const LockRequest& request, const Session& session, const LocalPosition& position) {
  if (!position.of_other_kind.empty()) warn_of_other_kind(*request.core, request.kind, session, position.of_other_kind);
}

/// Waits until the node is first. What is known of the queue at the beginning is brought up to date. handoff.hpp has the
/// steps by which the release of a local waiter wakes the one behind it.
Awaitable<Result<NodeCheck>> wait_until_first(const Session& session, const LockRequest& request,
                                              const QueueNode& queue_node, Enqueued& enqueued) {
  const LockCore& core = *request.core;
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  while (enqueued.position.verdict == QueuePosition::Verdict::behind) {
    const LocalPosition& position = enqueued.position;
    const auto& ahead = position.ahead;
    if (request.keeps && !ahead) request.keeps->front.lock()->on_stranger();
    const std::string_view predecessor = ahead ? node_name(ahead->path()) : std::string_view{position.predecessor};
    if (request.limits.try_once && !is_leaving(queue_node, predecessor)) {
      core.local_queue()->try_failed(predecessor);
      co_return make_error_code(Error::timed_out);
    }
    request.told.waits(session, queue_node.node().path, ahead ? ahead->path() : position.predecessor);
    enqueued.children = Children{};  // there may be many waiters
    Result<Predecessor> gone = Predecessor::gone;
    if (ahead) {
      const auto wake_up = LocalWaiter::add_waiter(ahead, session, queue_node.local_waiter());
      while (!ahead->has_left() && !ahead->is_deleted()) {
        if (const error_code ended = end_of_wait(session, cancellation)) co_return ended;
        co_await wake_up->wait();
      }
    } else {
      auto waiting = wait_for(session, join_path(core.path(), position.predecessor));
      gone = co_await std::move(waiting);
      if (!gone) co_return gone.error();
    }
    if (*gone == Predecessor::gone && is_our_turn(session, position, request.kind) && !request.node.steps_back)
      co_return ahead ? NodeCheck::by_handoff : NodeCheck::by_server;
    // A wake-up is a hint: the session may be over [F45], which prove_alive() detects at the end.
    auto listing = list_children(session, core.path());
    auto children = co_await std::move(listing);
    if (!children && children.error() == Error::no_node) co_return make_error_code(LockError::lock_lost);
    if (!children) co_return children.error();
    enqueued = queue_node.read_list(core.naming(), std::move(*children));
    warn_if_mixed(request, session, enqueued.position);
  }
  if (enqueued.position.verdict == QueuePosition::Verdict::missing) co_return make_error_code(LockError::lock_lost);
  co_return NodeCheck::none_needed;
}

/// The last try has failed, so this one will, too, unless a list shows otherwise. (A node of the client that is being
/// made may be one that is about to leave.)
bool is_likely_to_fail(const LockRequest& request) {
  LocalQueue& local_queue = *request.core->local_queue();
  return request.limits.try_once && local_queue.has_try_failed() && !local_queue.is_making_node();
}

/// The list is no older than the try, so that a lock that was free before the try is not missed.
Awaitable<error_code> look_before_try(const Session& session, const LockRequest& request) {
  LocalQueue& local_queue = *request.core->local_queue();
  const auto children = co_await list_children_fresh(session, request.core->path());
  if (!children) co_return children.error() == Error::no_node ? error_code{} : children.error();
  local_queue.late_nodes().on_listed(session, *children);
  const std::string ahead = find_last_blocking(*children, request.kind, request.core->naming());
  const bool goes_on = ahead.empty() || local_queue.has_left(ahead) || local_queue.is_to_be_asked(ahead);
  co_return goes_on ? error_code{} : make_error_code(Error::timed_out);
}

/// One attempt, on one session: if that session ends, the attempt fails with it. A node that steps back begins again at
/// the end of the queue.
Awaitable<Result<Lease>> attempt(const Session& session, const LockRequest& request) {
  error_code error;
  if (is_likely_to_fail(request)) error = co_await look_before_try(session, request);
  if (error) co_return error;
  const LockCore& core = *request.core;
  const NodeTraits& traits = request.node;
  for (;;) {
    QueueNode queue_node{session, core.path(), core.marker(request.kind), traits.data, {}, traits.prefix};
    queue_node.join_local_queue(core.local_queue(), request.kind);
    Enqueued enqueued;
    auto enqueuing = request.keeps           ? enqueue_to_keep(session, request, queue_node, enqueued)
                     : request.keeps_reading ? enqueue_to_keep_reading(session, request, queue_node, enqueued)
                                             : queue_node.enqueue(core.naming(), enqueued);
    error = co_await std::move(enqueuing);
    // This node is gone with the directory: the directory was empty, and reaped.
    if (error == Error::no_node && !queue_node.error()) co_return make_error_code(LockError::lock_lost);
    if (error) co_return error;
    error = check_sequence(queue_node.sequence());
    if (error) co_return error;
    request.told.enqueued(session, queue_node.node().path);
    warn_if_mixed(request, session, enqueued.position);
    NodeCheck check = NodeCheck::none_needed;
    if (enqueued.position.verdict != QueuePosition::Verdict::first) {
      auto waiting = wait_until_first(session, request, queue_node, enqueued);
      const auto waited = co_await std::move(waiting);
      if (!waited) co_return waited.error();
      check = *waited;
    }
    const bool is_listed = !enqueued.children.empty();
    if (traits.steps_back && is_listed && traits.steps_back(enqueued.children, queue_node.name())) {
      if (request.limits.try_once) co_return make_error_code(Error::timed_out);
      continue;
    }
    auto proving = prove_alive(session);
    error = co_await std::move(proving);
    if (error) co_return error;
    if (const auto& own = queue_node.local_waiter(); own && own->is_deleted())
      co_return make_error_code(LockError::lock_lost);
    core.local_queue()->acquire_succeeded();
    co_return hold(request, session, queue_node, check);
  }
}

}  // namespace

Awaitable<Result<Lease>> wait_in_queue(const LockRequest& request) {
  const LockCore& core = *request.core;
  detail::RetryLoop loop{core.client(), "acquire", core.path(), request.limits.deadline};
  for (;;) {
    const auto session = co_await loop.session();
    if (!session) co_return request.told.failed(session.error());  // it has used up its time: not to be retried
    auto lease = co_await attempt(*session, request);
    if (lease) co_return std::move(*lease);
    if (!may_start_over(lease.error())) co_return request.told.failed(lease.error());
    if (const error_code error = co_await loop.next(lease.error())) co_return request.told.failed(error);
  }
}

Lease hold(const LockRequest& request, const Session& session, QueueNode& queue_node, NodeCheck check,
           std::optional<std::int64_t> token) {
  std::shared_ptr<HeldLock> kept;
  if (request.keeps)
    kept = hold_to_keep(request, session, queue_node);
  else if (request.keeps_reading)
    kept = hold_to_keep_reading(request, session, queue_node);
  if (kept) return kept_lease(*request.core, request.told, kept);
  Granted granted{session, queue_node.node(), check, queue_node.local_waiter(), queue_node.late_node(), token};
  granted.max_hold = request.max_hold;
  granted.share = std::move(request.share);
  if (request.keeps) granted.front = std::move(request.keeps->front);
  auto held_lock = HeldLock::make(request.core, request.owner, request.kind, std::move(granted), request.told);
  Lease lease{std::make_shared<LeaseShare>(std::move(held_lock))};
  queue_node.detach();
  return lease;
}

Lease kept_lease(LockCore& core, detail::LockAttempt& told, const std::shared_ptr<HeldLock>& held_lock) {
  core.add(held_lock);
  told.granted(*held_lock);
  return Lease{std::make_shared<LeaseShare>(held_lock)};
}

NodeTraits::NodeTraits(const ClientHandle& client) : NodeTraits{format_lock_data({client.client_id(), 1})} {}

bool may_start_over(error_code error) { return detail::may_try_again(error) || error == LockError::lock_lost; }

}  // namespace zklock
