#include "session_keeper.hpp"

#include "completion.hpp"
#include "connect_policy.hpp"

#include <zklock/timer.hpp>

#include <boost/asio/dispatch.hpp>
#include <spdlog/spdlog.h>

#include <cstdio>

namespace zklock::detail {

/// One async_session under way.
struct SessionKeeper::Waiter : std::enable_shared_from_this<SessionKeeper::Waiter> {
  Waiter(Handler<Session>&& h, std::string p, std::shared_ptr<Runtime> r, const asio::any_io_executor& lane)
      : runtime{std::move(r)}, handler{std::move(h)}, prefix{std::move(p)}, timer{lane} {}
  std::shared_ptr<Runtime> runtime;
  std::optional<Handler<Session>> handler;
  std::string prefix;
  Timer timer;
  std::optional<Waiters::iterator> place{};

  void complete(error_code error, Session session = {}) {
    if (!handler) return;
    Handler<Session> taken{std::move(*handler)};
    handler.reset();
    timer.cancel();
    deliver_later(*runtime, std::move(taken), error, std::move(session));
  }
};

/// A session that is over for the client, and perhaps not yet at the servers.
struct SessionKeeper::Retired {
  Retired(std::shared_ptr<SessionCore> s, const asio::any_io_executor& executor)
      : session{std::move(s)}, limit{executor} {}
  std::shared_ptr<SessionCore> session;
  Timer limit;
};

SessionKeeper::SessionKeeper(std::shared_ptr<Runtime> runtime, Config config,
                             std::function<void(ConnectionState)> on_state)
    : runtime_{std::move(runtime)}, config_{std::move(config)}, on_state_{std::move(on_state)} {
  config_.driver.history = std::make_shared<ConnectHistory>();
}

Session SessionKeeper::session(std::string prefix) const {
  const std::lock_guard lock{session_mutex_};
  return Session{SessionHandle{session_, std::move(prefix)}};
}

void SessionKeeper::set_servers(const std::vector<std::string>& servers) {
  config_.driver.servers = servers;
  {
    const std::lock_guard lock{session_mutex_};
    servers_ = servers;
  }
  for (const auto& each : sessions()) each->driver().set_servers(servers);
  if (!session_ && !refusal_) make_session();
}

/// The current session and the retired ones.
std::vector<std::shared_ptr<SessionCore>> SessionKeeper::sessions() const {
  std::vector<std::shared_ptr<SessionCore>> all;
  for (const auto& each : retired_) all.push_back(each->session);
  if (session_) all.push_back(session_);
  return all;
}

void SessionKeeper::make_session() {
  config_.driver.on_trouble = [weak = weak_from_this()](std::string cause) {
    if (const auto self = weak.lock()) self->note_trouble(std::move(cause));
  };
  auto driver = config_.make_driver(runtime_->serial(), config_.driver);
  auto session = std::make_shared<SessionCore>(runtime_, std::move(driver), config_.session);
  session->on_state = [weak = weak_from_this()](SessionState state) {
    if (const auto self = weak.lock()) self->on_session_state(state);
  };
  {
    const std::lock_guard lock{session_mutex_};
    if (session_)
      if (const auto contact = session_->health().last_contact) earlier_contact_ = contact;
    session_ = session;
  }
  session->start();
}

SessionHealth SessionKeeper::health() const {
  const std::lock_guard lock{session_mutex_};
  SessionHealth health;
  health.timeout = config_.session.timeout;
  if (session_) health = session_->health();
  if (!health.last_contact) health.last_contact = earlier_contact_;
  return health;
}

// ---- its states

void SessionKeeper::on_session_state(SessionState state) {
  switch (state) {
    case SessionState::connecting: return;
    case SessionState::connected:
      note_trouble({});
      enter(std::exchange(connected_before_, true) ? ConnectionState::reconnected : ConnectionState::connected);
      return answer_some_waiters();
    case SessionState::suspended: note_loss(); return enter(ConnectionState::suspended);
    case SessionState::read_only: return enter(ConnectionState::read_only);
    case SessionState::expired:
      retire(session_);
      make_session();
      return enter(ConnectionState::lost);
    case SessionState::auth_failed:
      refusal_ = make_error_code(Error::auth_failed);
      enter(ConnectionState::lost);
      return answer_waiters(refusal_);
    case SessionState::closed: return;
  }
}

/// If the servers do not know a session any more, they say so at the next connection. If no server can be reached for
/// this long, the session has ended, or the servers have lost their data.
void SessionKeeper::retire(std::shared_ptr<SessionCore> session) {
  const auto retired = std::make_shared<Retired>(std::move(session), runtime_->serial());
  retired_.push_back(retired);
  retired->session->close(CloseMode::when_reachable, [weak = weak_from_this(), retired] {
    if (const auto self = weak.lock()) self->retired_.remove(retired);
    retired->limit.cancel();
  });
  retired->limit.expires_after(10 * retired->session->timeout());
  retired->limit.async_wait([weak = std::weak_ptr{retired}](error_code error) {
    if (const auto self = weak.lock(); self && !error) self->session->close(CloseMode::abortive);
  });
}

void SessionKeeper::enter(ConnectionState state) {
  states_.publish(state);
  on_state_(state);
}

void SessionKeeper::give_up(const std::shared_ptr<Waiter>& waiter, error_code error) {
  if (waiter->place) waiters_.erase(*std::exchange(waiter->place, std::nullopt));
  waiter->complete(error);
}

/// Answers all waiters once there will be no more connections.
void SessionKeeper::answer_waiters(error_code error) {
  while (!waiters_.empty()) give_up(std::shared_ptr{waiters_.front()}, error);
}

/// In portions: thousands at once would hold up the heartbeats.
void SessionKeeper::answer_some_waiters() {
  constexpr int portion = 64;
  if (state() != ConnectionState::connected && state() != ConnectionState::reconnected) return;
  for (int i = 0; i < portion && !waiters_.empty(); ++i) {
    const auto waiter = waiters_.front();
    waiters_.pop_front();
    waiter->place.reset();
    waiter->complete({}, session(waiter->prefix));
  }
  if (waiters_.empty()) return;
  asio::post(runtime_->serial(), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->answer_some_waiters();
  });
}

void SessionKeeper::await_session(Deadline deadline, std::string prefix, Handler<Session> handler) {
  const auto serial = runtime_->serial();
  auto waiter = std::make_shared<Waiter>(std::move(handler), std::move(prefix), runtime_, config_.lane);
  on_cancellation(*waiter->handler, [keeper = weak_from_this(), weak = std::weak_ptr{waiter}, serial] {
    asio::post(serial, [keeper, weak] {
      const auto self = keeper.lock();
      const auto leaving = weak.lock();
      if (self && leaving) self->give_up(leaving, make_error_code(asio::error::operation_aborted));
    });
  });
  asio::dispatch(serial, [self = shared_from_this(), waiter, deadline] {
    if (!waiter->handler) return;
    if (self->refusal_) return waiter->complete(self->refusal_);
    const Session current = self->session(waiter->prefix);
    if (current && current.state() == SessionState::connected) return waiter->complete({}, current);
    waiter->place = self->waiters_.insert(self->waiters_.end(), waiter);
    if (!deadline) return;
    waiter->timer.expires_at(*deadline);
    waiter->timer.async_wait([keeper = std::weak_ptr{self}, weak = std::weak_ptr{waiter}](error_code error) {
      const auto waited_for = keeper.lock();
      const auto overdue = weak.lock();
      if (!waited_for || !overdue || error) return;
      waited_for->log_trouble();
      waited_for->give_up(overdue, make_error_code(Error::not_connected));
    });
  });
}

// ---- why there is no connection

/// A connection on which nothing was answered has not interrupted the trouble. The cause was noted when the link was lost.
void SessionKeeper::note_loss() {
  if (config_.driver.history->failures > 1) return;
  trouble_logged_ = false;
  const std::lock_guard lock{session_mutex_};
  out_of_touch_since_ = Clock::now();
}

void SessionKeeper::note_trouble(std::string cause) {
  const std::lock_guard lock{session_mutex_};
  cause_ = std::move(cause);
}

std::string SessionKeeper::trouble() const {
  switch (state()) {
    case ConnectionState::connected:
    case ConnectionState::reconnected: return {};
    case ConnectionState::closed: return "the client is closed";
    default: break;
  }
  const std::lock_guard lock{session_mutex_};
  std::string text = "no connection to ";
  for (const std::string& server : servers_) text += server + (&server == &servers_.back() ? "" : ",");
  if (servers_.empty()) text += config_.named_servers;
  const std::chrono::duration<double> lasting = Clock::now() - out_of_touch_since_;
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, " for %.1f s", lasting.count());
  text += seconds;
  if (!cause_.empty()) return text + ": " + cause_;
  return servers_.empty() ? text + ": no address is known of these names" : text;
}

/// Logs once for all waiters that were not served.
void SessionKeeper::log_trouble() {
  if (config_.session.logger && !std::exchange(trouble_logged_, true))
    config_.session.logger->warn("zklock: {}", trouble());
}

// ---- the end

void SessionKeeper::abandon() {
  refusal_ = make_error_code(Error::closed);
  slots_->abandon();
  answer_waiters(refusal_);
  for (const auto& each : std::exchange(retired_, {})) each->session->abandon();
  if (session_) session_->abandon();
  states_.publish(ConnectionState::closed);
}

void SessionKeeper::close(CloseMode mode, std::function<void()> closed) {
  refusal_ = make_error_code(Error::closed);
  slots_->close();
  answer_waiters(refusal_);
  auto finish = [self = shared_from_this(), closed = std::move(closed)] {
    self->enter(ConnectionState::closed);
    closed();
  };
  const auto open = sessions();
  if (open.empty()) return asio::post(runtime_->serial(), std::move(finish));
  const auto left = std::make_shared<std::size_t>(open.size());
  for (const auto& each : open)
    each->close(mode, [left, finish] {
      if (--*left == 0) finish();
    });
}

void SessionKeeper::cut_short() {
  for (const auto& each : sessions()) each->close(CloseMode::abortive);
}

}  // namespace zklock::detail
