#include "session_hold.hpp"

#include <utility>

namespace zklock::detail {

std::shared_ptr<SessionHold> SessionHold::begin(Session session) {
  auto hold = std::make_shared<SessionHold>(std::move(session));
  hold->renewal_.emplace(hold->session_, hold);
  return hold;
}

SessionHold::SessionHold(Session session) : session_{std::move(session)}, changed_{session_.get_executor()} {}

Clock::time_point SessionHold::valid_until() const noexcept {
  return given_up_ || is_lost() ? Clock::time_point{} : session_.valid_until();
}

bool SessionHold::is_lost() const noexcept {
  if (!lost_ && !given_up_ && (is_final(session_.state()) || Clock::now() >= session_.valid_until())) lost_ = true;
  return lost_;
}

void SessionHold::give_up() {
  if (is_lost() || given_up_.exchange(true)) return;
  renewal_.reset();
  changed_.happen();
}

void SessionHold::lose() {
  if (given_up_ || lost_.exchange(true)) return;
  renewal_.reset();
  changed_.happen();
}

Awaitable<error_code> SessionHold::wait_lost(std::shared_ptr<SessionHold> hold) {
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  for (;;) {
    if (hold->is_lost()) co_return error_code{};
    if (hold->given_up_ || cancellation.cancelled() != asio::cancellation_type::none)
      co_return make_error_code(asio::error::operation_aborted);
    co_await hold->changed_.wait();
  }
}

}  // namespace zklock::detail
