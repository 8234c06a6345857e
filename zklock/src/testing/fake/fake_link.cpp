// The fake driver's connection: making it, losing it, closing it.
#include "fake_driver.hpp"

#include <zklock/recipe_kit/random.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>

namespace zklock::testing::fake {

using namespace std::chrono_literals;

void Driver::connect() {
  phase_ = Phase::connecting;
  attempts_.begin(Clock::now());
  server_ = options_.servers[next_server_++ % options_.servers.size()];
  connection_ = std::make_shared<Connection>(world_, executor_, weak_from_this());
  Greeting greeting{.credentials = credentials_,
                    .timeout = options_.session_timeout,
                    .auth = options_.auth,
                    .last_zxid = last_zxid_,
                    .server = server_};
  greeted_.clear();
  for (const auto& [place, watched] : watches_)
    if (watched.is_set) greeting.watches.push_back({place, watched.on_missing});
  send([greeting = std::move(greeting)](World& world, Connection& connection) {
    world.on_greeting(connection, greeting);
  });
}

void Driver::hang_up() {
  if (!connection_) return;
  const std::lock_guard lock{world_->mutex};
  world_->on_gone(*connection_);
  connection_.reset();
}

void Driver::lose(error_code reason, ConnectAttempts::Failure failure) {
  if (phase_ != Phase::connecting && phase_ != Phase::connected) return;
  hang_up();
  phase_ = Phase::backing_off;
  attempts_.on_failure(failure, addresses(), timeout_, Clock::now(), random_bits());
  enter(LinkState::disconnected);
  while (!requests_.empty()) answer(requests_.begin()->first, Reply{.error = reason});
  if (!replies_.is_delivering()) wake();
}

void Driver::on_terminated(LinkState state, error_code reason) {
  finish();
  if (end_) return;
  attempts_.on_session_over();
  enter(state);
  end(reason);
  if (!replies_.is_delivering()) wake();
}

void Driver::end(error_code reason) {
  end_ = reason;
  while (!requests_.empty()) answer(requests_.begin()->first, Reply{.error = reason});
  for (auto& [place, watched] : std::exchange(watches_, {}))
    for (auto& sink : watched.sinks) replies_.add_end(std::move(sink), reason);
  unused_.clear();
}

// ---- the end

void Driver::close(CloseMode mode, error_code reason, std::function<void()> closed) {
  if (!end_) end(reason);
  attempts_.part();
  timer_at_ = Clock::time_point::max();  // is armed again, so that the timer keeps this object alive
  wake();
  if (closed) closed_.push_back(std::move(closed));
  const bool has_session = credentials_.id != 0 && phase_ != Phase::done;
  if (mode == CloseMode::abortive || !has_session) return finish();
  const bool is_told = close_mode_.has_value();
  close_mode_ = mode;
  if (mode == CloseMode::graceful) hurry();
  if (phase_ == Phase::connected && !is_told)
    send([](World& world, Connection& connection) { world.on_close(connection); });
}

/// Sets a limit for the close: no back-off, and no handshake with one server, may take all of it.
void Driver::hurry() {
  if (close_limit_ != Clock::time_point::max()) return;
  close_limit_ = Clock::now() + close_limit;
  attempts_.hurry(Clock::now());
}

void Driver::finish() {
  hang_up();
  phase_ = Phase::done;
  close_mode_.reset();
  close_limit_ = Clock::time_point::max();
  timer_.cancel();
  timer_at_ = Clock::time_point::max();
  for (auto& closed : std::exchange(closed_, {})) asio::post(executor_, std::move(closed));
}

void Driver::abandon() {
  close(CloseMode::abortive, make_error_code(Error::closing), {});
  while (replies_.has_replies()) deliver();
  closed_.clear();
}

void Driver::set_servers(std::vector<std::string> servers) {
  options_.servers = std::move(servers);
  if (std::find(options_.servers.begin(), options_.servers.end(), server_) == options_.servers.end())
    lose(make_error_code(Error::connection_loss));
}

// ---- time

void Driver::on_time() {
  if (phase_ == Phase::done || (end_ && !close_mode_)) return;
  const auto now = Clock::now();
  if (now >= close_limit_) return finish();
  if (phase_ == Phase::backing_off && now >= attempts_.not_before()) {
    connect();
  } else if (phase_ == Phase::connecting && now >= attempts_.overdue_at(timeout_, addresses())) {
    lose(make_error_code(Error::connection_loss), ConnectAttempts::Failure::overdue);
  } else if (phase_ == Phase::connected && now >= last_heard_ + timeout_ * 2 / 3) {
    lose(make_error_code(Error::operation_timeout));
  } else if (awaits_heartbeat() && now >= liveness_.heartbeat_due(timeout_)) {
    send_without_sink([](World& world, Connection& connection, RequestId id) { world.on_ping(connection, id); });
  } else if (phase_ == Phase::connected && requests_.empty() && now >= last_send_ + timeout_ / 3) {
    send([](World& world, Connection& connection) { world.on_ping(connection, {}); });
  }
  schedule();
}

/// Re-arms only for an earlier time; a timer that fires too early waits again.
void Driver::schedule() {
  if (phase_ == Phase::done || (end_ && !close_mode_)) return;
  Clock::time_point due = close_limit_;
  switch (phase_) {
    case Phase::backing_off: due = std::min(due, attempts_.not_before()); break;
    case Phase::connecting: due = std::min(due, attempts_.overdue_at(timeout_, addresses())); break;
    case Phase::connected:
      due = std::min<Clock::time_point>(due, last_heard_ + timeout_ * 2 / 3);
      if (requests_.empty()) due = std::min<Clock::time_point>(due, last_send_ + timeout_ / 3);
      if (awaits_heartbeat()) due = std::min(due, liveness_.heartbeat_due(timeout_));
      break;
    case Phase::done: return;
  }
  if (timer_at_ <= due) return;
  timer_at_ = due;
  timer_.expires_at(due);
  // While closing, nothing else may keep this object alive.
  auto keep = close_mode_ ? shared_from_this() : nullptr;
  timer_.async_wait([weak = weak_from_this(), keep = std::move(keep)](error_code error) {
    const auto self = weak.lock();
    if (!self || error) return;
    self->timer_at_ = Clock::time_point::max();
    self->on_time();
  });
}

}  // namespace zklock::testing::fake
