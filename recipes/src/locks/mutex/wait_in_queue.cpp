#include "wait_in_queue.hpp"

#include "limits.hpp"
#include "queue_position.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/retry_loop.hpp>
#include <zklock/recipe_kit/session_ops.hpp>
#include <zklock/recipes/locks/lock_data.hpp>

#include <optional>
#include <utility>

namespace zklock {

using detail::is_only_one;
using detail::KeptLockNode;
using detail::LockCore;

namespace {

/// What is known of the queue once this attempt's node is in it.
struct Enqueued {
  Place place = Place::unknown;          ///< as the node's number tells it
  std::shared_ptr<LocalWaiter> ahead{};  ///< the local waiter to wait for, which has no other predecessors than its own
  Children children{};                   ///< the list of the queue, if the number tells nothing
  KeptLockNode::Alone alone{};           ///< its watch is set if the list came with one
};

/// A reader does not wait for a reader, but for the writer for which that reader waits.
Enqueued place_by_number(const QueueNode& queue_node, LockKind kind) {
  const auto& [node, is_proven] = queue_node.right_ahead();
  if (!is_proven) return {};
  const Place place = place_behind(node->seen_since(queue_node.asked_for()), kind);
  if (place == Place::behind) return {place, node};
  if (place == Place::behind_its_writer) return {place, node->waits_for()};
  return {place};
}

/// Creates the node, and finds its place: by its number alone, if that is likely to tell.
Awaitable<Result<Enqueued>> find_place(Session session, LockRequest request, QueueNode& queue_node) {
  const LockCore& core = request.core;
  const EnqueueBy how = core.local_queue()->how_to_enqueue(session, request.kind);
  Enqueued enqueued;
  if (request.keeps && request.keeps->is_alone()) {
    auto children = co_await enqueue_to_keep(session, core, queue_node, enqueued.alone);
    if (!children) co_return children.error();
    enqueued.children = std::move(*children);
    co_return std::move(enqueued);
  }
  if (how != EnqueueBy::number) {
    auto children = co_await enqueue(session, core, queue_node, how);
    if (!children) co_return children.error();
    enqueued.children = std::move(*children);
    co_return std::move(enqueued);
  }
  for (int rounds_left = max_rounds; !queue_node.is_enqueued();) {
    queue_node.request();
    if (!co_await queue_node.answered()) {
      enqueued = place_by_number(queue_node, request.kind);
      if (enqueued.place != Place::unknown) co_return std::move(enqueued);
    } else if (const error_code error = co_await recover(session, core, queue_node, rounds_left)) {
      co_return error;
    }
  }
  auto children = co_await list_children(session, core.path());
  if (!children) co_return children.error();
  enqueued.children = std::move(*children);
  co_return std::move(enqueued);
}

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
    if (const error_code ended = co_await LocalWaiter::wait_left_or_deleted(ahead, session, std::move(own)))
      co_return ended;
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
  return ahead && ahead->has_left_since(queue_node.asked_for()) && node_name(ahead->path()) == predecessor;
}

/// It came without a wait, next to the client's last node, and nobody is behind it.
bool may_keep(LockRequest request, const QueueNode& queue_node, const Enqueued& enqueued) {
  const bool is_adjacent = queue_node.right_ahead().node && !queue_node.late_node();
  return is_adjacent && enqueued.alone.watch.is_set() &&
         is_only_one(enqueued.children, queue_node.name(), request.kind, request.core.naming());
}

/// Waits until the node is first, beginning with what is known of its place.
Awaitable<error_code> wait_until_first(Session session, LockRequest request, const QueueNode& queue_node,
                                       Enqueued enqueued, Granted& granted) {
  const LockCore& core = request.core;
  for (auto& [place, ahead, children, alone] = enqueued;;) {
    QueuePosition position;
    if (granted.local_waiter) granted.local_waiter->forget_told();
    if (!ahead) {
      queue_node.on_listed(children);
      position = find_position(children, queue_node.name(), request.kind, core.naming());
      if (!position.of_other_kind.empty()) warn_of_other_kind(core, request.kind, session, position.of_other_kind);
      if (position.verdict == QueuePosition::Verdict::missing) co_return make_error_code(LockError::lock_lost);
      if (position.verdict == QueuePosition::Verdict::first) {
        if (request.keeps && may_keep(request, queue_node, enqueued)) granted.alone = std::move(alone);
        granted.stepped_back = request.node.steps_back && request.node.steps_back(children, queue_node.name());
        if (granted.stepped_back && request.try_once) co_return make_error_code(Error::timed_out);
        break;
      }
      ahead = core.local_queue()->find(session, request.kind, position.predecessor_sequence, position.predecessor);
    }
    alone = {};
    if (request.keeps && !ahead) request.keeps->on_stranger();
    const std::string_view predecessor = ahead ? node_name(ahead->path()) : std::string_view{position.predecessor};
    if (request.try_once && !is_leaving(queue_node, predecessor)) {
      core.local_queue()->try_failed(predecessor);
      co_return make_error_code(Error::timed_out);
    }
    request.told.waits(session, queue_node.node().path, ahead ? ahead->path() : position.predecessor);
    const auto woken = co_await wait_turn(session, core, position, request.kind, ahead, granted.local_waiter);
    if (!woken) co_return woken.error();
    if (*woken == Wakeup::confirmed && !request.node.steps_back) {
      granted.verifier = ahead ? Granted::Verifier::handoff : Granted::Verifier::server;
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
bool is_likely_to_fail(LockRequest request) {
  LocalQueue& local_queue = *request.core.local_queue();
  return request.try_once && local_queue.has_try_failed() && !local_queue.is_asked();
}

/// The list is no older than the try, so that a lock that was free before the try is not missed.
Awaitable<error_code> look_before_try(Session session, LockRequest request) {
  LocalQueue& local_queue = *request.core.local_queue();
  const auto children = co_await list_children_fresh(session, request.core.path());
  if (!children) co_return children.error() == Error::no_node ? error_code{} : children.error();
  local_queue.late_nodes().on_listed(session, *children);
  const std::string ahead = find_last_blocking(*children, request.kind, request.core.naming());
  const bool goes_on = ahead.empty() || local_queue.has_left(ahead) || local_queue.is_to_be_asked(ahead);
  co_return goes_on ? error_code{} : make_error_code(Error::timed_out);
}

/// One attempt, on one session: if that session ends, the attempt fails with it.
Awaitable<Result<Granted>> attempt(Session session, LockRequest request) {
  if (is_likely_to_fail(request))
    if (const error_code error = co_await look_before_try(session, request)) co_return error;
  const LockCore& core = request.core;
  const NodeTraits& traits = request.node;
  QueueNode queue_node{session, core.path(), core.marker(request.kind), traits.data, {}, traits.prefix};
  queue_node.join_local_queue(core.local_queue(), request.kind);
  auto enqueued = co_await find_place(session, request, queue_node);
  // This node is gone with the directory: the directory was empty, and reaped.
  if (!enqueued && enqueued.error() == Error::no_node && !queue_node.error())
    co_return make_error_code(LockError::lock_lost);
  if (!enqueued) co_return enqueued.error();
  if (request.keeps) request.keeps->on_enqueued(queue_node.right_ahead().node != nullptr);
  if (const error_code error = check_sequence(queue_node.sequence())) co_return error;
  request.told.enqueued(session, queue_node.node().path);
  Granted granted{session, queue_node.node(), queue_node.local_waiter(), queue_node.late_node()};
  if (enqueued->place != Place::first) {
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

NodeTraits::NodeTraits(const ClientHandle& client) : NodeTraits{format_lock_data({client.client_id(), 1})} {}

bool may_start_over(error_code error) {
  return is_retryable(error) || error == Error::session_expired || error == LockError::lock_lost;
}

Awaitable<Result<Granted>> wait_in_queue(ClientHandle client, LockRequest request, Deadline deadline) {
  detail::RetryLoop loop{client, "acquire", request.core.path(), deadline};
  for (;;) {
    const auto session = co_await loop.session();
    if (!session) co_return session.error();  // it has used up its time: not to be retried
    auto granted = co_await attempt(*session, request);
    while (granted && granted->stepped_back) granted = co_await attempt(*session, request);
    if (granted || !may_start_over(granted.error())) co_return std::move(granted);
    if (const error_code error = co_await loop.next(granted.error())) co_return error;
  }
}

}  // namespace zklock
