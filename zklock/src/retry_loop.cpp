#include "client_core.hpp"

#include <zklock/detail/random.hpp>
#include <zklock/detail/retry_loop.hpp>
#include <zklock/path.hpp>

#include <spdlog/spdlog.h>

namespace zklock::detail {

RetryLoop::RetryLoop(ClientHandle client, std::string_view operation, const std::string& path)
    : client_{std::move(client)}, operation_{operation}, path_{path} {}

Awaitable<Result<Session>> RetryLoop::session() {
  for (;;) {
    const auto [no_session, session] = co_await client_.async_session(path_, use_tuple);
    if (no_session) co_return no_session;
    if (retries_ == 0) co_return session;
    Timer timer{client_.get_executor(), client_.ref()->take_retry_turn()};
    const auto [cancelled] = co_await timer.async_wait(use_tuple);
    if (cancelled) co_return cancelled;
    if (session.state() == SessionState::connected) co_return session;
  }
}

Awaitable<error_code> RetryLoop::next(error_code error) {
  const auto wait = client_.config().retry.wait_before({retries_, Clock::now() - start_, error, random_bits()});
  if (const auto& logger = client_.config().logger) {
    const auto session = static_cast<std::uint64_t>(client_.session(path_).id());  // 0 for none
    logger->log(wait ? spdlog::level::debug : spdlog::level::warn,
                "zklock: session={:#x} op={} path={} error={} ({}), {}", session, operation_, quoted(path_),
                error.value(), error.message(), wait ? "trying again" : "giving up");
  }
  if (!wait) co_return error;
  ++retries_;
  Timer timer{client_.get_executor(), *after(*wait)};
  const auto [cancelled] = co_await timer.async_wait(use_tuple);
  co_return cancelled;
}

}  // namespace zklock::detail
