#include "session_keeper.hpp"

#include "delivery.hpp"

#include <spdlog/spdlog.h>

namespace zklock::detail {

/// One async_session under way.
struct SessionKeeper::Waiter : std::enable_shared_from_this<SessionKeeper::Waiter> {
  Waiter(Handler<Session>&& h, std::string p, std::shared_ptr<Runtime> r)
      : runtime{std::move(r)}, handler{std::move(h)}, prefix{std::move(p)}, timer{runtime->serial()} {}
  std::shared_ptr<Runtime> runtime;
  std::optional<Handler<Session>> handler;
  std::string prefix;
  Timer timer;

  void complete(error_code error, Session session = {}) {
    if (!handler) return;
    Handler<Session> taken{std::move(*handler)};
    handler.reset();
    timer.cancel();
    deliver_later(*runtime, std::move(taken), error, std::move(session));
  }
};

/// A session that is over for us, and perhaps not yet at the servers.
struct SessionKeeper::Retired {
  Retired(std::shared_ptr<SessionCore> s, const asio::any_io_executor& executor)
      : session{std::move(s)}, limit{executor} {}
  std::shared_ptr<SessionCore> session;
  Timer limit;
};

SessionKeeper::SessionKeeper(std::shared_ptr<Runtime> runtime, Config config,
                             std::function<void(ConnectionState)> on_state)
    : runtime_{std::move(runtime)}, config_{std::move(config)}, on_state_{std::move(on_state)} {}

Session SessionKeeper::session(std::string prefix) const {
  const std::lock_guard lock{session_mutex_};
  return Session{SessionHandle{session_, std::move(prefix)}};
}

void SessionKeeper::set_servers(const std::vector<std::string>& servers) {
  config_.driver.servers = servers;
  if (refusal_) return;
  for (const auto& each : retired_) each->session->driver().set_servers(servers);
  if (session_) return session_->driver().set_servers(servers);
  make_session();
}

void SessionKeeper::make_session() {
  auto driver = config_.make_driver(runtime_->serial(), config_.driver);
  auto session = std::make_shared<SessionCore>(runtime_, std::move(driver), config_.session);
  session->on_state = [weak = weak_from_this()](SessionState state) {
    if (const auto self = weak.lock()) self->on_session_state(state);
  };
  {
    const std::lock_guard lock{session_mutex_};
    session_ = session;
  }
  session->start();
}

// ---- its states
// ----------------------------------------------------------------------------------------------------------

void SessionKeeper::on_session_state(SessionState state) {
  switch (state) {
    case SessionState::connecting: return;
    case SessionState::connected:
      enter(std::exchange(connected_before_, true) ? ConnectionState::reconnected : ConnectionState::connected);
      return answer_waiters({});
    case SessionState::suspended: return enter(ConnectionState::suspended);
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

/// Whom the servers do not know any more they say so at the next connection. Who cannot be found for so long is gone
/// everywhere, or the servers have lost their memory.
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

void SessionKeeper::answer_waiters(error_code error) {
  for (const auto& waiter : std::exchange(waiters_, {}))
    waiter->complete(error, error ? Session{} : session(waiter->prefix));
}

void SessionKeeper::await_session(Deadline deadline, std::string prefix, Handler<Session> handler) {
  const auto serial = runtime_->serial();
  auto waiter = std::make_shared<Waiter>(std::move(handler), std::move(prefix), runtime_);
  on_cancellation(*waiter->handler, [weak = std::weak_ptr{waiter}, serial] {
    asio::post(serial, [weak] {
      if (const auto self = weak.lock()) self->complete(make_error_code(asio::error::operation_aborted));
    });
  });
  asio::dispatch(serial, [self = shared_from_this(), waiter, deadline] {
    if (!waiter->handler) return;
    if (self->refusal_) return waiter->complete(self->refusal_);
    const Session current = self->session(waiter->prefix);
    if (current && current.state() == SessionState::connected) return waiter->complete({}, current);
    std::erase_if(self->waiters_, [](const auto& other) { return !other->handler; });
    self->waiters_.push_back(waiter);
    if (!deadline) return;
    waiter->timer.expires_at(*deadline);
    waiter->timer.async_wait([weak = std::weak_ptr{waiter}](error_code error) {
      if (const auto overdue = weak.lock(); overdue && !error)
        overdue->complete(make_error_code(Error::connection_loss));
    });
  });
}

// ---- the end
// -------------------------------------------------------------------------------------------------------------

void SessionKeeper::abandon() {
  refusal_ = make_error_code(Error::closed);
  answer_waiters(refusal_);
  for (const auto& each : std::exchange(retired_, {})) each->session->abandon();
  if (session_) session_->abandon();
  states_.publish(ConnectionState::closed);
}

void SessionKeeper::close(CloseMode mode, std::function<void()> closed) {
  refusal_ = make_error_code(Error::closed);
  answer_waiters(refusal_);
  const auto retired = retired_;  // each leaves the list when it is closed
  for (const auto& each : retired) each->session->close(CloseMode::abortive);
  auto finish = [self = shared_from_this(), closed = std::move(closed)] {
    self->enter(ConnectionState::closed);
    closed();
  };
  if (!session_) return asio::post(runtime_->serial(), std::move(finish));
  session_->close(mode, std::move(finish));
}

}  // namespace zklock::detail
