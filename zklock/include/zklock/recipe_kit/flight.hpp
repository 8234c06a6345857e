// Operations that are started together and awaited together.
#pragma once

#include <zklock/recipe_kit/async_event.hpp>
#include <zklock/recipe_kit/spawn.hpp>

#include <boost/asio/bind_executor.hpp>

#include <cstddef>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace zklock {

/// How many requests a recipe sends at once, at most: a server holds up a client that has a thousand under way.
inline constexpr std::size_t max_flight = 200;

/// The outcomes of operations that are under way at once. Each operation is started with handler() as its token, on the
/// serial executor; then wait() waits for all of them. An operation whose Flight is gone completes all the same.
///
/// Threads: the serial executor.
template <class... Results>
class Flight {
 public:
  using Outcome = std::tuple<error_code, Results...>;

  Flight(const asio::any_io_executor& serial, std::size_t size) : state_{std::make_shared<State>(serial, size)} {}

  /// The token of the operation of that number. `keep_alive` exists until the operation has completed.
  template <class Keep = std::nullptr_t>
  [[nodiscard]] auto handler(std::size_t number, Keep keep_alive = {}) const {
    return asio::bind_executor(state_->serial, [state = state_, number, keep_alive = std::move(keep_alive)](
                                                   error_code error, Results... results) {
      state->outcomes[number] = Outcome{error, std::move(results)...};
      if (--state->left == 0) state->all_done.happen();
    });
  }
  /// Waits until all operations have completed, or the caller is cancelled: operation_aborted.
  [[nodiscard]] Awaitable<error_code> wait() const { return wait_for(state_); }
  /// What has come of them, in the order of their numbers.
  [[nodiscard]] std::vector<Outcome>& outcomes() const noexcept { return state_->outcomes; }

 private:
  struct State {
    State(const asio::any_io_executor& executor, std::size_t size)
        : serial{executor}, all_done{executor}, left{size}, outcomes(size) {}
    asio::any_io_executor serial;
    AsyncEvent all_done;
    std::size_t left;
    std::vector<Outcome> outcomes;
  };

  static Awaitable<error_code> wait_for(std::shared_ptr<State> state) {
    if (state->left == 0) co_return error_code{};
    const auto [cancelled] = co_await state->all_done.wait();
    co_return state->left == 0 ? error_code{} : cancelled;
  }

  std::shared_ptr<State> state_;
};

}  // namespace zklock
