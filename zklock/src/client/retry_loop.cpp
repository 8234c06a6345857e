#include "client_core.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/random.hpp>
#include <zklock/recipe_kit/retry_loop.hpp>
#include <zklock/timer.hpp>

#include <spdlog/spdlog.h>

namespace zklock::detail {

RetryLoop::RetryLoop(ClientHandle client, std::string_view operation, const std::string& path, Deadline deadline)
    : client_{std::move(client)}, operation_{operation}, path_{path}, deadline_{deadline} {}

RetryLoop::~RetryLoop() = default;

void RetryLoop::use_slots() { slots_ = keeper_of(client_.ref(), path_).slots(); }

namespace {

// Waits that are seldom needed have frames of their own: that of session() is allocated for each acquire.

Awaitable<error_code> take(RetryTurns& turns, Deadline deadline) {
  const auto [error] = co_await turns.async_take(deadline, use_tuple);
  co_return error;
}

Awaitable<error_code> take(RequestSlots& slots) {
  const auto [error] = co_await slots.async_take(use_tuple);
  co_return error;
}

}  // namespace

Awaitable<Result<Session>> RetryLoop::session() {
  for (;;) {
    const auto [no_session, session] = co_await client_.async_session(path_, use_tuple);
    if (no_session == asio::error::operation_aborted && retries_ == 0) co_return make_error_code(Error::not_connected);
    if (no_session) co_return no_session;
    RetryTurns& turns = client_.ref()->retry_turns();
    const bool takes_turn = retries_ > 0;
    if (takes_turn) {
      const error_code no_turn = co_await take(turns, deadline_);
      if (no_turn == Error::timed_out) co_return last_error_;
      if (no_turn) co_return no_turn;
    }
    if (slots_) {
      if (!slots_->try_take()) {
        const error_code no_slot = co_await take(*slots_);
        if (no_slot) {
          if (takes_turn) turns.give_back();
          co_return no_slot;
        }
      }
      slot_ = std::make_shared<RequestSlots::Slot>(slots_);
    }
    if (session.state() == SessionState::connected) co_return session;
    slot_.reset();
    if (takes_turn) turns.give_back();
  }
}

Awaitable<error_code> RetryLoop::next(error_code error) {
  slot_.reset();
  const auto wait = client_.config().retry.wait_before({retries_, Clock::now() - start_, error, random_bits()});
  if (const auto& logger = client_.config().logger) {
    const auto session = static_cast<std::uint64_t>(client_.session(path_).id());  // 0 without a session
    logger->log(wait ? spdlog::level::debug : spdlog::level::warn,
                "zklock: session={:#x} op={} path={} error={} ({}), {}", session, operation_, zklock::quoted(path_),
                error.value(), error.message(), wait ? "trying again" : "giving up");
  }
  if (const auto& observers = client_.ref()->observers()) {
    const std::string path = client_.server_path(path_);
    RetryEvent event;
    event.client_id = client_.client_id();
    event.operation = operation_;
    event.path = path;
    event.error = error;
    event.retries = retries_;
    event.lasts = Clock::now() - start_;
    event.pause = wait;
    observers->tell(&Observer::on_retry, event);
  }
  if (!wait) co_return error;
  ++retries_;
  last_error_ = error;
  Timer timer{client_.get_executor(), *after(*wait)};
  const auto [cancelled] = co_await timer.async_wait(use_tuple);
  co_return cancelled;
}

}  // namespace zklock::detail
