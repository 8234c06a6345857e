// The states that a subscriber has not read yet, and their publisher.
#pragma once

#include "runtime.hpp"

#include <zklock/detail/weak_list.hpp>
#include <zklock/state_stream.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace zklock {

/// States after which none follows, or those of another session: a slow subscriber must not miss them.
constexpr bool must_be_seen(SessionState state) noexcept { return is_final(state); }
constexpr bool must_be_seen(ConnectionState state) noexcept {
  return state == ConnectionState::lost || state == ConnectionState::closed;
}
constexpr bool is_last(SessionState state) noexcept { return is_final(state); }
constexpr bool is_last(ConnectionState state) noexcept { return state == ConnectionState::closed; }

namespace detail {

/// Threads: any; it has a mutex, which is never held while a handler runs.
template <class State>
class StateQueue : public std::enable_shared_from_this<StateQueue<State>> {
 public:
  StateQueue(std::shared_ptr<Runtime> runtime, State first)
      : runtime_{std::move(runtime)}, states_{first}, ended_{is_last(first)} {}

  void push(State state);
  void wait(Handler<State> handler);
  /// Ends the wait under way, whichever it is.
  void cancel();
  [[nodiscard]] Runtime& runtime() const noexcept { return *runtime_; }

 private:
  static constexpr std::size_t longest = 16;

  /// A cancellation may come when its wait is over, and another one under way.
  void follow_cancellation(const Handler<State>& handler, std::uint64_t number);
  void cancel(std::uint64_t number);
  void abort(std::unique_lock<std::mutex>& lock);

  std::shared_ptr<Runtime> runtime_;
  std::mutex mutex_;
  std::deque<State> states_;
  bool ended_ = false;
  std::optional<Handler<State>> waiter_;
  std::uint64_t waits_ = 0;
};

}  // namespace detail

/// A state and its subscribers. Threads: publish on the serial executor, the rest on any.
template <class State>
class StatePublisher {
 public:
  explicit StatePublisher(State initial) : state_{initial} {}

  [[nodiscard]] State get() const {
    const std::lock_guard lock{mutex_};
    return state_;
  }
  std::shared_ptr<detail::StateQueue<State>> subscribe(std::shared_ptr<Runtime> runtime);
  void publish(State state);

 private:
  mutable std::mutex mutex_;
  State state_;
  detail::WeakList<detail::StateQueue<State>> subscribers_;  // many subscribe at once when the link is lost
};

extern template class detail::StateQueue<SessionState>;
extern template class detail::StateQueue<ConnectionState>;
extern template class StatePublisher<SessionState>;
extern template class StatePublisher<ConnectionState>;

}  // namespace zklock
