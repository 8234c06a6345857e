#include "permits.hpp"

#include "acquire.hpp"
#include "admission.hpp"
#include "kept_permit.hpp"
#include "queue_node.hpp"
#include "queue_position.hpp"
#include "room_watch.hpp"
#include "wait_in_queue.hpp"

#include <zklock/recipe_kit/retry_loop.hpp>
#include <zklock/recipe_kit/session_ops.hpp>
#include <zklock/recipes/locks/lock_data.hpp>

#include <algorithm>
#include <list>
#include <utility>

namespace zklock {

using detail::HeldLock;
using detail::LeaseShare;
using detail::LockAttempt;
using detail::SemaphoreCore;

namespace {

using Children = std::vector<std::string>;
/// The attempt's nodes among the leases.
using QueueNodes = std::list<QueueNode>;

/// The most that is requested in one flight, and answered by one list.
constexpr std::int32_t max_at_once = 1'000;

struct PermitRequest {
  const SemaphoreCore& semaphore;
  std::int32_t quantity;
  bool try_once;  ///< give up at once if too few permits are free
  const LockAttempt& told;
  ToKeep* keeps;  ///< null, unless the permit may be kept
};

bool are_all_there(const QueueNodes& queue_nodes) {
  return std::ranges::all_of(queue_nodes, [](const QueueNode& queue_node) { return queue_node.is_enqueued(); });
}

/// After the replies: finds the nodes whose create's reply was lost. Gives the error of those that certainly do not
/// exist, or success if they only have to be requested again.
Awaitable<error_code> find_lost(QueueNodes& queue_nodes) {
  error_code refused;
  for (QueueNode& queue_node : queue_nodes) {
    if (queue_node.is_enqueued()) continue;
    error_code error = queue_node.error();
    if (error == Error::protocol_error) co_return error;  // the reply would be the same again
    if (outcome_of(error) == Outcome::not_applied) {
      refused = error;
      continue;
    }
    error = co_await queue_node.recover();
    if (error && error != Error::no_node) co_return error;  // no_node: it was never created
  }
  co_return refused;
}

/// Creates the attempt's nodes and lists the leases in one flight; creates the directory if it is missing, and finds
/// the nodes again whose replies were lost.
Awaitable<Result<Children>> enqueue(Session session, const std::string& directory, QueueNodes& queue_nodes,
                                    ToKeep* keeps) {
  for (int rounds_left = max_rounds;;) {
    for (QueueNode& queue_node : queue_nodes)
      if (!queue_node.is_enqueued()) queue_node.request();
    auto listed = co_await list_to_keep(session, directory, keeps);
    if (listed && are_all_there(queue_nodes)) co_return std::move(*listed);
    if (keeps) keeps->alone = {};
    error_code error = co_await find_lost(queue_nodes);
    if (!error && are_all_there(queue_nodes)) co_return co_await list_children_fresh(session, directory);
    if (error == Error::no_node && --rounds_left > 0) {
      error = co_await create_containers(session, directory);
      if (error == Error::no_node) error = {};  // an ancestor was deleted again: another round
    } else if (is_retryable(error)) {
      error = co_await pause_before_retry(session);
    }
    if (error) co_return error;
  }
}

struct PermitNode {
  CreateResult node;
  std::shared_ptr<const ProtectedPath> late_node;
};
using PermitNodes = std::vector<PermitNode>;

/// One attempt, on the session of the mutex: if that session ends, the attempt fails with it. The mutex is released
/// once the attempt's nodes are permits, or certainly gone.
Awaitable<Result<PermitNodes>> attempt(Session session, PermitRequest request, std::shared_ptr<const Lease> mutex) {
  RoomWatch room{session, request.semaphore, mutex->node_path()};
  const SemaphoreCore& semaphore = request.semaphore;
  const std::string& directory = semaphore.leases()->path();
  const std::string data = format_lock_data({semaphore.client().client_id(), 1});
  QueueNodes queue_nodes;
  for (std::int32_t i = 0; i < request.quantity; ++i) {
    queue_nodes.emplace_back(session, directory, marker_of(LockKind::permit), data);
    queue_nodes.back().keep_alive(mutex);
  }
  auto children = co_await enqueue(session, directory, queue_nodes, request.keeps);
  if (children && request.keeps) note_listed(*request.keeps, queue_nodes.front(), *children);
  for (;;) {
    // The attempt's nodes are gone with the directory.
    if (!children && children.error() == Error::no_node && are_all_there(queue_nodes))
      co_return make_error_code(LockError::lock_lost);
    if (!children) co_return children.error();
    const auto permits = co_await read_count(session, semaphore.count());
    if (!permits) co_return permits.error();
    Children own;
    for (const QueueNode& queue_node : queue_nodes) {
      queue_node.on_listed(*children);
      own.push_back(queue_node.name());
    }

    const Admission admission = admit(*children, own, *permits);
    if (admission == Admission::missing) co_return make_error_code(LockError::lock_lost);
    if (admission == Admission::granted) break;
    if (request.keeps) note_waiting(*request.keeps, queue_nodes.front(), *children);
    if (request.try_once) co_return make_error_code(Error::timed_out);

    request.told.waits(session, queue_nodes.front().node().path, {});
    if (const error_code error = co_await room.wait(own, *permits)) co_return error;
    // A wake-up is a hint. Whether the session still lives, and whether the attempt still has the mutex, is known only
    // from a reply to a request sent after the wake-up [F45].
    if (!room.is_mutex_lost()) children = co_await list_children_fresh(session, directory);
    if (room.is_mutex_lost()) co_return make_error_code(LockError::lock_lost);
  }
  if (const error_code dead = co_await prove_alive(session)) co_return dead;
  PermitNodes granted;
  for (QueueNode& queue_node : queue_nodes) granted.push_back({queue_node.detach(), queue_node.late_node()});
  co_return std::move(granted);
}

bool is_valid(std::int32_t quantity, const PermitCount& count) {
  return quantity >= 1 && quantity <= max_at_once && (count.is_shared() || quantity <= count.number);
}

Lease hold(const SemaphoreCore& semaphore, const Session& session, const PermitNode& permit, LockAttempt& told,
           ToKeep* keeps) {
  const Owner owner = Owner::make();
  const auto& leases = semaphore.leases();
  if (keeps)
    if (auto kept = begin_keeping(leases, owner, LockKind::permit, *keeps, detail::NodePlace{session, permit.node}))
      return kept_lease(*leases, told, HeldLock::make_on(std::move(kept), owner, keeps->how, told.number()));
  detail::Granted granted{session, permit.node};
  granted.late_node = permit.late_node;
  granted.max_hold = semaphore.keep().max_hold;
  if (keeps) granted.front = std::move(keeps->front);
  auto held_lock = HeldLock::make(leases, owner, LockKind::permit, std::move(granted), told);
  return Lease{std::make_shared<LeaseShare>(std::move(held_lock))};
}

Awaitable<Result<std::vector<Lease>>> acquire_in_queue(const SemaphoreCore& semaphore, std::int32_t quantity,
                                                       Limits limits, LockAttempt& told, ToKeep* keeps) {
  detail::RetryLoop loop{semaphore.client(), "acquire", semaphore.locks()->path(), limits.deadline};
  for (;;) {
    const auto connected = co_await loop.session();
    if (!connected) co_return told.failed(connected.error());
    auto acquiring = acquire(semaphore.locks(), Owner::make(), LockKind::mutex, limits, NodeTraits{semaphore.client()});
    auto first_in_queue = co_await std::move(acquiring);
    if (!first_in_queue) co_return told.failed(first_in_queue.error());  // it has been retried as often as allowed
    auto share = std::move(*first_in_queue).into_share();
    const Session session = share->held_lock().session();
    auto mutex = std::make_shared<const Lease>(std::move(share));
    auto attempting =
        attempt(session, PermitRequest{semaphore, quantity, limits.try_once, told, keeps}, std::move(mutex));
    auto granted = co_await std::move(attempting);
    if (granted) {
      std::vector<Lease> leases;
      for (const PermitNode& each : *granted) leases.push_back(hold(semaphore, session, each, told, keeps));
      co_return std::move(leases);
    }
    if (!may_start_over(granted.error())) co_return told.failed(granted.error());
    if (const error_code error = co_await loop.next(granted.error())) co_return told.failed(error);
  }
}

}  // namespace

Awaitable<Result<std::vector<Lease>>> acquire_permits(std::shared_ptr<SemaphoreCore> semaphore, std::int32_t quantity,
                                                      Limits limits) {
  if (!is_valid(quantity, semaphore->count())) co_return make_error_code(LockError::invalid_permits);
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  LockAttempt told{*semaphore->leases(), LockKind::permit, limits, cancellation};
  ToKeep to_keep{semaphore->keep()};
  ToKeep* const keeps = to_keep.how.is_on() ? &to_keep : nullptr;
  if (keeps) {
    auto entering = enter_kept_permit(*semaphore, limits.try_once, told.number(), to_keep);
    auto held_lock = co_await std::move(entering);
    if (!held_lock) co_return told.failed(held_lock.error());
    if (*held_lock) {
      std::vector<Lease> leases;
      leases.push_back(kept_lease(*semaphore->leases(), told, *held_lock));
      co_return std::move(leases);
    }
  } else if (const auto* kept = semaphore->leases()->kept()) {
    if (const auto node = kept->node()) node->ask();  // a permit of this client, too, asks for the one that it keeps
  }
  auto acquiring = acquire_in_queue(*semaphore, quantity, limits, told, keeps);
  auto leases = co_await std::move(acquiring);
  if (!leases && leases.error() != Error::timed_out && leases.error() != asio::error::operation_aborted)
    to_keep.front.fail();
  co_return std::move(leases);
}

}  // namespace zklock
