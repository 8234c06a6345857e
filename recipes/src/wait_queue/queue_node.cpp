#include "queue_node.hpp"

#include "sequence_number.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/async_event.hpp>
#include <zklock/recipe_kit/retry_loop.hpp>
#include <zklock/recipe_kit/session_ops.hpp>

namespace zklock {

namespace {

using KeptAlive = std::shared_ptr<const void>;  // kept by a coroutine until it ends

Awaitable<void> remove(Session session, std::string path, KeptAlive) {
  co_await remove_guaranteed(std::move(session), std::move(path));
}

Awaitable<void> find_and_remove(Session session, ProtectedPath path, KeptAlive) {
  co_await find_and_remove(std::move(session), std::move(path));
}

/// Kazoo does not create a directory again once it is deleted.
CreateMode mode_of_directories(LockNaming naming) {
  return naming == LockNaming::kazoo ? CreateMode::persistent : CreateMode::container;
}

}  // namespace

/// Outlives the QueueNode while the create is under way.
struct QueueNode::State : std::enable_shared_from_this<State> {
  enum class Phase { idle, requested, enqueued, failed, detached };

  State(Session s, std::string_view directory, std::string_view m, std::string d, const std::string& n,
        const std::string& prefix)
      : session{std::move(s)},
        path{directory, prefix + std::string{m} + n},
        marker{m},
        data{std::move(d)},
        is_beside{!n.empty()} {}

  Session session;
  ProtectedPath path;
  std::string_view marker;
  std::string data;
  bool is_beside;  // it has a writer's number, not one of its own
  KeptAlive kept_alive = {};
  Phase phase = Phase::idle;
  error_code error = {};
  CreateResult node = {};
  std::optional<std::int32_t> sequence = {};
  bool left = false;
  bool is_abandoned = false;  // it left while its create was under way
  bool was_lost = false;      // a create of it was lost, or is yet to be carried out
  int requests = 0;
  std::weak_ptr<AsyncEvent> answered = {};  // while a coroutine waits for the reply
  std::shared_ptr<LocalQueue> local_queue = {};
  LockKind kind = LockKind::mutex;
  std::shared_ptr<LocalWaiter> local_waiter = {};
  LocalQueue::Request create = {};
  LocalQueue::RightAhead right_ahead = {};

  void on_created(error_code outcome, CreateResult result) {
    error = outcome;
    node = std::move(result);
    phase = error ? Phase::failed : Phase::enqueued;
    if (!error) std::string{}.swap(data);  // it is not requested again
    sequence = error ? std::nullopt : parse_sequence(node_name(node.path), marker);
    if (local_queue && sequence) {
      if (!is_beside) right_ahead = local_queue->right_ahead(session, kind, *sequence, create);
      local_waiter = is_beside ? local_queue->enter_beside(session, *sequence, node)
                               : local_queue->enter(session, kind, *sequence, node);
    }
    if (const auto waiting = answered.lock()) waiting->happen();
    if (left) leave();
  }

  void leave() {
    left = true;
    if (phase == Phase::requested) {  // the reply calls this again
      if (local_queue && !is_beside && !std::exchange(is_abandoned, true)) local_queue->begin_abandoned();
      return;
    }
    if (std::exchange(is_abandoned, false)) local_queue->end_abandoned();
    if (local_waiter && phase != Phase::detached) local_waiter->dequeue_and_wake(session.get_executor());
    KeptAlive leaving = std::exchange(kept_alive, nullptr);
    if (was_lost && local_queue && phase != Phase::detached)
      local_queue->late_nodes().expect(session, std::make_shared<const ProtectedPath>(path));
    if (phase == Phase::enqueued && was_lost)
      spawn_detached(session.get_executor(), find_and_remove(session, path, std::move(leaving)));
    else if (phase == Phase::enqueued)
      spawn_detached(session.get_executor(), remove(session, node.path, std::move(leaving)));
    else if (phase == Phase::failed && (outcome_of(error) == Outcome::ambiguous || error == Error::node_exists))
      spawn_detached(session.get_executor(), find_and_remove(session, path, std::move(leaving)));
  }
};

QueueNode::QueueNode(Session session, std::string directory, std::string_view marker, std::string data,
                     std::string number, const std::string& prefix)
    : state_{std::make_shared<State>(std::move(session), directory, marker, std::move(data), number, prefix)} {}

QueueNode::~QueueNode() { state_->leave(); }

void QueueNode::join_local_queue(std::shared_ptr<LocalQueue> local_queue, LockKind kind) {
  state_->local_queue = std::move(local_queue);
  state_->kind = kind;
}

void QueueNode::keep_alive(std::shared_ptr<const void> thing) { state_->kept_alive = std::move(thing); }

// ---- into the queue

Awaitable<error_code> QueueNode::enqueue(LockNaming naming, Enqueued& found) {
  const State& state = *state_;
  const Session& session = state.session;
  const std::string& directory = state.path.directory();
  error_code error;
  if (has_abandoned_ahead()) error = co_await wait_for_abandoned();
  if (error) co_return error;
  for (int rounds_left = max_rounds; !is_enqueued();) {
    request();
    if (state.create.how == EnqueueBy::number) {
      auto answering = answered();
      error = co_await std::move(answering);
      if (!error && is_found_by_number(found)) co_return error;
    } else {
      if (state.create.how == EnqueueBy::watch_and_list) state.local_queue->watch(session, directory);
      auto [failed, listed] = co_await session.async_get_children(directory, use_tuple);
      if (is_enqueued() && !failed) {
        found = read_list(naming, std::move(listed.names));
        co_return failed;
      }
    }
    if (is_enqueued()) break;
    auto preparing = prepare_retry(naming, rounds_left);
    error = co_await std::move(preparing);
    if (error) co_return error;
  }
  auto listing = list_children(session, directory);
  auto children = co_await std::move(listing);
  if (!children) co_return children.error();
  found = read_list(naming, std::move(*children));
  co_return error_code{};
}

bool QueueNode::has_abandoned_ahead() const {
  return state_->local_queue && !state_->is_beside && state_->local_queue->has_abandoned();
}

Awaitable<error_code> QueueNode::wait_for_abandoned() const {
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  while (has_abandoned_ahead()) {
    const auto settled = state_->local_queue->settled(state_->session);
    co_await settled->wait();
    if (cancellation.cancelled() != asio::cancellation_type::none) co_return asio::error::operation_aborted;
  }
  co_return error_code{};
}

bool QueueNode::is_found_by_number(Enqueued& found) const {
  auto position = LocalQueue::position_by_number(state_->right_ahead, state_->kind, state_->create);
  if (position) found = Enqueued{std::move(*position)};
  return position.has_value();
}

Enqueued QueueNode::read_list(LockNaming naming, Children children) const {
  const State& state = *state_;
  on_listed(children);
  if (state.local_waiter) state.local_waiter->forget_handoff();
  auto position = state.local_queue->position_by_list(state.session, state.kind, naming, children, name());
  return {std::move(position), std::move(children)};
}

void QueueNode::request() {
  state_->phase = State::Phase::requested;
  const auto queue = state_->is_beside ? nullptr : state_->local_queue;
  if (queue) state_->create = queue->begin_request(state_->session, state_->kind);
  state_->error = make_error_code(Error::connection_loss);  // the outcome until the reply is there
  state_->session.async_create(
      state_->path.path(), state_->data, state_->is_beside ? CreateMode::ephemeral : CreateMode::ephemeral_sequential,
      asio::bind_executor(state_->session.get_executor(), [state = state_, queue, number = ++state_->requests](
                                                              error_code error, CreateResult result) {
        // If the link broke unnoticed, the reply may come after the node was searched for and requested again.
        const bool found_already = state->phase == State::Phase::enqueued || state->phase == State::Phase::detached;
        if (number == state->requests && !found_already) state->on_created(error, std::move(result));
        if (queue) queue->end_request(state->session, state->kind);
      }));
}

Awaitable<error_code> QueueNode::answered() {
  const auto answered = std::make_shared<AsyncEvent>(state_->session.get_executor());
  state_->answered = answered;
  if (state_->phase == State::Phase::requested) co_await answered->wait();
  const bool cancelled = state_->phase == State::Phase::requested;
  co_return cancelled ? make_error_code(asio::error::operation_aborted) : state_->error;
}

Awaitable<error_code> QueueNode::prepare_retry(LockNaming naming, int& rounds_left) {
  error_code error = state_->error;
  if (error == Error::protocol_error) co_return error;  // the reply would be the same again
  // A reader beside its writer has one name: a leader has carried out late what was lost [F16b].
  const bool was_made_late = error == Error::node_exists && --rounds_left > 0;
  if (outcome_of(error) == Outcome::ambiguous || was_made_late) {
    error = co_await recover();
    if (error == Error::no_node) error = {};  // the create was not applied
  } else if (error == Error::no_node && --rounds_left > 0) {
    const NodeOptions directories{mode_of_directories(naming)};
    error = co_await create_path(state_->session, state_->path.directory(), directories);
    if (error == Error::no_node) error = {};  // an ancestor was deleted again: another round
  } else if (is_retryable(error)) {
    error = co_await pause_before_retry(state_->session);
  }
  co_return error;
}

Awaitable<error_code> QueueNode::recover() {
  auto found = co_await find_own_node(state_->session, state_->path);
  if (!found) co_return found.error();
  if (found->path.empty()) {
    state_->phase = State::Phase::idle;  // it does not exist; a leader of 3.8.0 may yet make it
    state_->was_lost = true;
    co_return make_error_code(Error::no_node);
  }
  state_->on_created({}, std::move(*found));
  co_return error_code{};
}

// ---- what is known of it

error_code QueueNode::error() const { return state_->error; }
bool QueueNode::is_enqueued() const { return state_->phase == State::Phase::enqueued; }
const CreateResult& QueueNode::node() const { return state_->node; }
std::optional<std::int32_t> QueueNode::sequence() const { return state_->sequence; }
std::string QueueNode::name() const { return std::string{node_name(state_->node.path)}; }

const std::shared_ptr<LocalWaiter>& QueueNode::local_waiter() const { return state_->local_waiter; }
const LocalQueue::RightAhead& QueueNode::right_ahead() const { return state_->right_ahead; }
LocalQueue::Moment QueueNode::requested_at() const { return state_->create.at; }
void QueueNode::on_listed(const Children& children) const {
  if (state_->local_queue) state_->local_queue->late_nodes().on_listed(state_->session, children);
  if (!state_->was_lost || !is_enqueued()) return;
  for (const std::string& child : children)
    if (state_->path.names(child) && child != name())
      remove_in_background(state_->session, join_path(state_->path.directory(), child));
}
std::shared_ptr<const ProtectedPath> QueueNode::late_node() const {
  return state_->was_lost ? std::make_shared<const ProtectedPath>(state_->path) : nullptr;
}

CreateResult QueueNode::detach() {
  state_->phase = State::Phase::detached;
  state_->kept_alive.reset();
  return state_->node;
}

}  // namespace zklock
