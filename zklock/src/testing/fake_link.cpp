// The fake driver's connection: making it, losing it, closing it.
#include "fake_driver.hpp"

#include <zklock/detail/random.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>

namespace zklock::testing::fake {

using namespace std::chrono_literals;

namespace {

constexpr Clock::duration first_back_off = 20ms;
constexpr Clock::duration close_patience = 4500ms;  // what zookeeper_close takes at most

}  // namespace

void Driver::connect() {
  phase_ = Phase::connecting;
  connecting_since_ = Clock::now();
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
  pings_.clear();
  if (!connection_) return;
  const std::lock_guard lock{world_->mutex};
  world_->on_gone(*connection_);
  connection_.reset();
}

/// After the first failure the next server is tried at once; after that we wait, as CClientDriver does.
void Driver::lose(error_code reason) {
  if (phase_ != Phase::connecting && phase_ != Phase::connected) return;
  hang_up();
  phase_ = Phase::backing_off;
  Clock::duration wait = 1ms;
  if (failures_ > 0) {
    const Clock::duration cap = std::max<Clock::duration>(timeout_ / 10, first_back_off);
    const Clock::duration half = std::min(first_back_off * (1 << std::min(failures_ - 1, 10)), cap) / 2;
    wait = half + std::chrono::nanoseconds{random_bits() % static_cast<std::uint64_t>(half.count())};
  }
  ++failures_;
  connect_at_ = Clock::now() + wait;
  enter(LinkState::disconnected);
  while (!requests_.empty()) answer(requests_.begin()->first, Reply{.error = reason});
  if (!delivering_) poke();
}

void Driver::die(LinkState state, error_code reason) {
  finish();
  if (end_) return;
  enter(state);
  end(reason);
  if (!delivering_) poke();
}

void Driver::end(error_code reason) {
  end_ = reason;
  while (!requests_.empty()) answer(requests_.begin()->first, Reply{.error = reason});
  for (auto& [place, watched] : std::exchange(watches_, {}))
    for (auto& sink : watched.sinks) inbox_.push_back({.reply = {.error = reason}, .watch = std::move(sink)});
  unused_.clear();
}

// ---- the end

void Driver::close(CloseMode mode, error_code reason, std::function<void()> closed) {
  if (!end_) end(reason);
  timer_at_ = Clock::time_point::max();  // armed anew, and to keep us alive
  poke();
  if (closed) closed_.push_back(std::move(closed));
  const bool has_session = credentials_.id != 0;
  const bool looks_for_it = mode == CloseMode::when_reachable && has_session && phase_ != Phase::done;
  const bool can_tell = mode != CloseMode::abortive && phase_ == Phase::connected;
  if (!looks_for_it && !can_tell) return finish();
  const bool is_told = close_mode_ && phase_ == Phase::connected;
  close_mode_ = mode;
  if (mode == CloseMode::graceful) close_limit_ = Clock::now() + close_patience;
  if (can_tell && !is_told) send([](World& world, Connection& connection) { world.on_close(connection); });
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
  while (!inbox_.empty()) deliver();
  closed_.clear();
}

void Driver::set_servers(std::vector<std::string> servers) {
  options_.servers = std::move(servers);
  if (std::find(options_.servers.begin(), options_.servers.end(), server_) == options_.servers.end())
    lose(make_error_code(Error::connection_loss));
}

// ---- time

Clock::duration Driver::connect_limit() const {
  const auto addresses = static_cast<int>(options_.servers.size() | 1);
  return Clock::duration{timeout_} / (2 * addresses);
}

void Driver::on_time() {
  if (phase_ == Phase::done || (end_ && !close_mode_)) return;
  const auto now = Clock::now();
  if (now >= close_limit_) return finish();
  if (phase_ == Phase::backing_off && now >= connect_at_) {
    connect();
  } else if (phase_ == Phase::connecting && now >= connecting_since_ + connect_limit()) {
    lose(make_error_code(Error::connection_loss));
  } else if (phase_ == Phase::connected && now >= last_heard_ + timeout_ * 2 / 3) {
    lose(make_error_code(Error::operation_timeout));
  } else if (phase_ == Phase::connected && now >= last_sent_ + timeout_ / 3 && requests_.empty()) {
    pings_.push_back(now);
    send([](World& world, Connection& connection) { world.on_ping(connection); });
  }
  schedule();
}

/// Re-arms only for an earlier time; who is woken too early sleeps on.
void Driver::schedule() {
  if (phase_ == Phase::done || (end_ && !close_mode_)) return;
  Clock::time_point due = close_limit_;
  switch (phase_) {
    case Phase::backing_off: due = std::min(due, connect_at_); break;
    case Phase::connecting: due = std::min(due, connecting_since_ + connect_limit()); break;
    case Phase::connected:
      due = std::min<Clock::time_point>(due, last_heard_ + timeout_ * 2 / 3);
      if (requests_.empty()) due = std::min<Clock::time_point>(due, last_sent_ + timeout_ / 3);
      break;
    case Phase::done: return;
  }
  if (timer_at_ <= due) return;
  timer_at_ = due;
  timer_.expires_at(due);
  // While it is closing nobody else may be left to keep it.
  auto keep = close_mode_ ? shared_from_this() : nullptr;
  timer_.async_wait([weak = weak_from_this(), keep = std::move(keep)](error_code error) {
    const auto self = weak.lock();
    if (!self || error) return;
    self->timer_at_ = Clock::time_point::max();
    self->on_time();
  });
}

}  // namespace zklock::testing::fake
