// Streams of states, which each subscriber reads at its own pace.
#pragma once

#include <zklock/connection_state.hpp>
#include <zklock/detail/initiate.hpp>

#include <memory>
#include <utility>

namespace zklock {

namespace detail {
template <class State>
class StateQueue;
template <class State>
Runtime& home_of(const StateQueue<State>& queue);
template <class State>
void abandon(const std::shared_ptr<StateQueue<State>>& queue) noexcept;
template <class State>
void start_next_state(std::shared_ptr<StateQueue<State>> queue, Handler<State> handler);
}  // namespace detail

/// A stream of states, in their order, read at the subscriber's own pace. The first one is the state at the time of the
/// subscription. A slow subscriber may miss short changes, but never the end of a session. The stream ends
/// (Error::closing) after the last state.
///
/// Threads: one at a time; any thread.
template <class State>
class BasicStateStream {
 public:
  explicit BasicStateStream(std::shared_ptr<detail::StateQueue<State>> queue) noexcept : queue_{std::move(queue)} {}
  BasicStateStream(BasicStateStream&&) noexcept = default;
  BasicStateStream& operator=(BasicStateStream&& other) noexcept {
    if (this != &other) {
      detail::abandon(queue_);
      queue_ = std::move(other.queue_);
    }
    return *this;
  }
  /// A wait under way completes with operation_aborted.
  ~BasicStateStream() { detail::abandon(queue_); }

  /// Waits for the next state. Only one wait at a time: a second one fails with Error::invalid_state.
  ///
  /// Signature     void(error_code, State)
  /// Completes     with the oldest unread state; at once if there is one.
  /// Errors        Error::closing when no other state can follow, operation_aborted.
  /// Cancellation  terminal, partial, total: no state is lost.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, State)> Token = asio::deferred_t>
  auto async_next(Token&& token = {}) {
    return detail::initiate<void(error_code, State), &detail::start_next_state<State>>(std::forward<Token>(token),
                                                                                       queue_);
  }

 private:
  std::shared_ptr<detail::StateQueue<State>> queue_;
};

using StateStream = BasicStateStream<ConnectionState>;
using SessionStateStream = BasicStateStream<SessionState>;

}  // namespace zklock
