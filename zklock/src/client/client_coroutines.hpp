// Common parts of a Client's operations: the loop of tries, and the way from a coroutine to a handler.
#pragma once

#include "client_core.hpp"
#include "completion.hpp"

#include <zklock/recipe_kit/retry_loop.hpp>
#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/timer.hpp>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace zklock::detail {

template <class... Results>
using Outcomes = std::tuple<Results...>;

/// Runs the operation's body, for at most the client's operation_timeout. The operation has left its place when the
/// handler is called.
template <class... Results>
void run_at(ClientCore::Place place, const ClientRef& client, Handler<Results...> handler,
            Awaitable<Result<Outcomes<Results...>>> body) {
  const auto slot = asio::get_associated_cancellation_slot(handler);
  auto finish = [place = std::move(place), core = client.core(), handler = std::move(handler)](
                    error_code error, Outcomes<Results...> results) mutable {
    place.leave();
    std::apply([&](auto&&... each) { std::move(handler)(error, std::move(each)...); }, std::move(results));
  };
  spawn_with_slot(client->lane(), after(client->config().operation_timeout), slot, std::move(body), std::move(finish));
}

/// The same, if there is a free place among the operations under way.
template <class... Results>
void run(const ClientRef& client, Handler<Results...> handler, Awaitable<Result<Outcomes<Results...>>> body) {
  ClientCore::Place place{client.core()};
  if (place) return run_at(std::move(place), client, std::move(handler), std::move(body));
  deliver_later(*client->runtime(), std::move(handler), make_error_code(Error::too_many_operations), Results{}...);
}

/// The retry loop of an operation that run() runs.
class Tries : public RetryLoop {
 public:
  Tries(const ClientHandle& client, std::string_view operation, const std::string& path)
      : RetryLoop{client, operation, path, after(client.config().operation_timeout)} {
    use_slots();
  }
};

[[nodiscard]] inline Result<std::string> encoded(const ClientRef& client, Compression compression, std::string data) {
  return compression == Compression::off ? std::move(data) : encoded(*client->config().codec, data);
}

[[nodiscard]] inline Result<std::string> decoded(const ClientRef& client, Compression compression, std::string data) {
  const ClientConfig& config = client->config();
  return compression == Compression::off ? std::move(data) : decoded(*config.codec, data, config.max_decoded);
}

/// The pause between tries of an operation in the background.
inline Awaitable<void> pause_in_background(ClientHandle client, int round) {
  const Clock::duration wait =
      std::min<Clock::duration>(std::chrono::milliseconds{100 << std::min(round, 10)}, std::chrono::seconds{10});
  Timer timer{client.get_executor(), wait};
  co_await timer.async_wait(use_tuple);
  co_await client.ref()->retry_turns().async_take(Deadline{}, use_tuple);
}

/// Repeats an operation of one step on a session that may be repeated without harm. `step(session)` starts it, with a
/// token that makes a tuple of its results.
template <class... Results, class Step>
Awaitable<Result<Outcomes<Results...>>> repeat(ClientRef client, std::string_view operation, std::string path,
                                               Step step) {
  const ClientHandle handle{client};
  for (Tries loop{handle, operation, path};;) {
    const auto session = co_await loop.session();
    if (!session) co_return session.error();
    auto outcome = co_await step(*session);
    if (const error_code error = std::get<0>(outcome); !error || !may_try_again(error)) {
      if (error) co_return error;
      co_return std::apply([](error_code, auto&&... each) { return Outcomes<Results...>{std::move(each)...}; },
                           std::move(outcome));
    }
    if (const error_code final_error = co_await loop.next(std::get<0>(outcome))) co_return final_error;
  }
}

}  // namespace zklock::detail
