#include "node_state_queue.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <utility>

namespace zklock {

std::string_view to_string(NodePhase phase) noexcept {
  switch (phase) {
    case NodePhase::absent: return "absent";
    case NodePhase::present: return "present";
    case NodePhase::suspect: return "suspect";
    case NodePhase::taken: return "taken";
    case NodePhase::failing: return "failing";
    case NodePhase::ended: return "ended";
  }
  return "unknown";
}

namespace detail {

namespace {

constexpr std::size_t max_unread = 16;

}  // namespace

NodeStateQueue::NodeStateQueue(const RecipeCore& recipe, NodeState first)
    : RecipeCore{recipe}, states_{first}, ended_{first.phase == NodePhase::ended} {}

void NodeStateQueue::deliver(Handler<NodeState> handler, error_code error, const NodeState& state) const {
  asio::post(client().get_executor(),
             [handler = std::move(handler), error, state]() mutable { std::move(handler)(error, state); });
}

void NodeStateQueue::push(const NodeState& state) {
  std::optional<Handler<NodeState>> waiter;
  {
    const std::lock_guard lock{mutex_};
    ended_ = ended_ || state.phase == NodePhase::ended;
    if (waiter_) {
      waiter.emplace(std::move(*waiter_));
      waiter_.reset();
    } else {
      if (states_.size() == max_unread) states_.pop_front();
      states_.push_back(state);
    }
  }
  if (waiter) deliver(std::move(*waiter), {}, state);
}

void NodeStateQueue::wait(Handler<NodeState> handler) {
  std::unique_lock lock{mutex_};
  if (waiter_) {
    lock.unlock();
    return deliver(std::move(handler), make_error_code(Error::invalid_state), {});
  }
  if (states_.empty() && !ended_) {
    waiter_.emplace(std::move(handler));
    return;
  }
  const error_code error = states_.empty() ? make_error_code(Error::closing) : error_code{};
  const NodeState state = states_.empty() ? NodeState{} : states_.front();
  if (!states_.empty()) states_.pop_front();
  lock.unlock();
  deliver(std::move(handler), error, state);
}

void NodeStateQueue::cancel() {
  std::optional<Handler<NodeState>> waiter;
  {
    const std::lock_guard lock{mutex_};
    if (!waiter_) return;
    waiter.emplace(std::move(*waiter_));
    waiter_.reset();
  }
  deliver(std::move(*waiter), make_error_code(asio::error::operation_aborted), {});
}

NodeState NodeStatePublisher::get() const {
  const std::lock_guard lock{mutex_};
  return state_;
}

std::shared_ptr<NodeStateQueue> NodeStatePublisher::subscribe(const RecipeCore& recipe) {
  const std::lock_guard lock{mutex_};
  auto queue = std::make_shared<NodeStateQueue>(recipe, state_);
  std::erase_if(subscribers_, [](const auto& subscriber) { return subscriber.expired(); });
  subscribers_.push_back(queue);
  return queue;
}

void NodeStatePublisher::publish(const NodeState& state) {
  std::vector<std::shared_ptr<NodeStateQueue>> queues;
  {
    const std::lock_guard lock{mutex_};
    if (state_ == state) return;
    state_ = state;
    for (const auto& subscriber : subscribers_)
      if (auto queue = subscriber.lock()) queues.push_back(std::move(queue));
  }
  for (const auto& queue : queues) queue->push(state);
}

asio::any_io_executor serial_executor(const NodeStateQueue& queue) { return queue.client().get_executor(); }
asio::any_io_executor callback_executor(const NodeStateQueue& queue) { return queue.client().callback_executor(); }
void refuse_after_fork(const NodeStateQueue& queue) { refuse_after_fork(static_cast<const RecipeCore&>(queue)); }

void abandon(const std::shared_ptr<NodeStateQueue>& queue) noexcept {
  if (queue && !queue->client().in_forked_child()) queue->cancel();
}

void start_next_node_state(std::shared_ptr<NodeStateQueue> queue, Handler<NodeState> handler) {
  if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected())
    slot.assign([weak = std::weak_ptr{queue}](asio::cancellation_type type) {
      const auto self = weak.lock();
      if (self && type != asio::cancellation_type::none) self->cancel();
    });
  queue->wait(std::move(handler));
}

}  // namespace detail
}  // namespace zklock
