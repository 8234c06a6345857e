#include "state_queue.hpp"

#include "completion.hpp"

namespace zklock {

namespace detail {

template <class State>
void StateQueue<State>::push(State state) {
  std::optional<Handler<State>> waiter;
  {
    const std::lock_guard lock{mutex_};
    ended_ = ended_ || is_last(state);
    if (waiter_) {
      waiter.emplace(std::move(*waiter_));
      waiter_.reset();
    } else {
      if (states_.size() >= longest) {
        const auto flap = std::find_if_not(states_.begin(), states_.end(), [](State s) { return must_be_seen(s); });
        states_.erase(flap == states_.end() ? states_.begin() : flap);
      }
      states_.push_back(state);
    }
  }
  if (waiter) deliver_later(*runtime_, std::move(*waiter), error_code{}, state);
}

template <class State>
void StateQueue<State>::wait(Handler<State> handler) {
  std::unique_lock lock{mutex_};
  if (waiter_) {
    lock.unlock();
    return deliver_later(*runtime_, std::move(handler), make_error_code(Error::invalid_state), State{});
  }
  if (states_.empty() && !ended_) {
    follow_cancellation(handler, ++waits_);
    waiter_.emplace(std::move(handler));
    return;
  }
  const error_code error = states_.empty() ? make_error_code(Error::closing) : error_code{};
  const State state = states_.empty() ? State{} : states_.front();
  if (!states_.empty()) states_.pop_front();
  lock.unlock();
  deliver_later(*runtime_, std::move(handler), error, state);
}

template <class State>
void StateQueue<State>::follow_cancellation(const Handler<State>& handler, std::uint64_t number) {
  on_cancellation(handler, [weak = this->weak_from_this(), number] {
    if (const auto self = weak.lock()) self->cancel(number);
  });
}

template <class State>
void StateQueue<State>::cancel(std::uint64_t number) {
  std::unique_lock lock{mutex_};
  if (waits_ == number) abort(lock);
}

template <class State>
void StateQueue<State>::cancel() {
  std::unique_lock lock{mutex_};
  abort(lock);
}

template <class State>
void StateQueue<State>::abort(std::unique_lock<std::mutex>& lock) {
  if (!waiter_) return;
  Handler<State> waiter{std::move(*waiter_)};
  waiter_.reset();
  lock.unlock();
  deliver_later(*runtime_, std::move(waiter), make_error_code(asio::error::operation_aborted), State{});
}

template <class State>
Runtime& home_of(const StateQueue<State>& queue) {
  return queue.runtime();
}

template <class State>
void abandon(const std::shared_ptr<StateQueue<State>>& queue) noexcept {
  if (queue && !queue->runtime().in_forked_child()) queue->cancel();
}

template <class State>
void start_next_state(std::shared_ptr<StateQueue<State>> queue, Handler<State> handler) {
  queue->wait(std::move(handler));
}

template class StateQueue<SessionState>;
template class StateQueue<ConnectionState>;
template Runtime& home_of(const StateQueue<SessionState>&);
template Runtime& home_of(const StateQueue<ConnectionState>&);
template void abandon(const std::shared_ptr<StateQueue<SessionState>>&) noexcept;
template void abandon(const std::shared_ptr<StateQueue<ConnectionState>>&) noexcept;
template void start_next_state(std::shared_ptr<StateQueue<SessionState>>, Handler<SessionState>);
template void start_next_state(std::shared_ptr<StateQueue<ConnectionState>>, Handler<ConnectionState>);

}  // namespace detail

template <class State>
std::shared_ptr<detail::StateQueue<State>> StatePublisher<State>::subscribe(std::shared_ptr<Runtime> runtime) {
  const std::lock_guard lock{mutex_};
  auto queue = std::make_shared<detail::StateQueue<State>>(std::move(runtime), state_);
  subscribers_.add(queue);
  return queue;
}

template <class State>
void StatePublisher<State>::publish(State state) {
  std::vector<std::shared_ptr<detail::StateQueue<State>>> queues;
  {
    const std::lock_guard lock{mutex_};
    state_ = state;
    for (const auto& subscriber : subscribers_)
      if (auto queue = subscriber.lock()) queues.push_back(std::move(queue));
  }
  for (const auto& queue : queues) queue->push(state);  // may destroy a queue and what its handler owns
}

template class StatePublisher<SessionState>;
template class StatePublisher<ConnectionState>;

}  // namespace zklock
