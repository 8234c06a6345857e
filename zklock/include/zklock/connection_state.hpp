// The states of a session and of a client's connection, and streams of them.
#pragma once

#include <zklock/detail/operation.hpp>

#include <memory>
#include <string_view>

namespace zklock {

/// One session's state. The last three are final.
enum class SessionState {
  connecting,  ///< never connected yet
  connected,
  suspended,    ///< the link is lost; the session lives on at the servers for a while
  read_only,    ///< connected to a server that has lost its quorum
  expired,      ///< ended by the servers, or so long without contact that it must be taken for ended
  auth_failed,  ///< the servers refused our credentials
  closed        ///< ended by us
};

[[nodiscard]] constexpr bool is_final(SessionState state) noexcept { return state >= SessionState::expired; }
[[nodiscard]] std::string_view to_string(SessionState state) noexcept;
/// What the operations of a session in this final state fail with.
[[nodiscard]] error_code error_of(SessionState state) noexcept;

/// A Client's connection state, with Curator's words.
enum class ConnectionState {
  connecting,   ///< no session yet
  connected,    ///< the first session is there
  suspended,    ///< the link is lost: whether locks are still held is unknown
  reconnected,  ///< the link is back: on the same session after suspended, on a new one after lost
  lost,  ///< the session is over and its locks with it; a new one is being made, unless our credentials were refused
  read_only,
  closed  ///< by Client::close
};

[[nodiscard]] std::string_view to_string(ConnectionState state) noexcept;

namespace detail {
template <class State>
class StateQueue;
template <class State>
asio::any_io_executor serial_executor(const StateQueue<State>& queue);
template <class State>
asio::any_io_executor callback_executor(const StateQueue<State>& queue);
template <class State>
void refuse_after_fork(const StateQueue<State>& queue);
template <class State>
void abandon(const std::shared_ptr<StateQueue<State>>& queue) noexcept;
template <class State>
void start_next_state(std::shared_ptr<StateQueue<State>> queue, Handler<State> handler);
}  // namespace detail

/// The states as they follow one another, read at the subscriber's own pace; the first is the one at the time of
/// subscribing. A subscriber far behind misses flaps, never the end of a session. Ends (Error::closing) after the last
/// state.
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

  /// Waits for the next state; one wait at a time, a second one fails with Error::invalid_state.
  ///
  /// Signature     void(error_code, State)
  /// Completes     with the oldest state not read yet, at once if there is one.
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
