#include "client_core.hpp"

#include "c_client_driver.hpp"
#include "delivery.hpp"

#include <boost/asio/ip/address.hpp>
#include <spdlog/spdlog.h>

#include <algorithm>

namespace zklock::detail {

using namespace std::chrono_literals;
using asio::ip::tcp;

/// One async_session under way.
struct ClientCore::Waiter : std::enable_shared_from_this<ClientCore::Waiter> {
  Waiter(Handler<Session>&& h, const asio::any_io_executor& executor) : handler{std::move(h)}, timer{executor} {}
  std::optional<Handler<Session>> handler;
  Timer timer;

  void complete(error_code error, Session session = {}) {
    if (!handler) return;
    Handler<Session> taken{std::move(*handler)};
    handler.reset();
    timer.cancel();
    deliver_later(timer.get_executor(), std::move(taken), error, std::move(session));
  }
};

ClientCore::ClientCore(std::shared_ptr<Runtime> runtime, ClientConfig config)
    : runtime_{std::move(runtime)},
      config_{std::move(config)},
      target_{parse_connect_string(config_.connect_string)},
      resolver_{runtime_->serial()},
      resolve_again_{runtime_->serial()} {}

Session ClientCore::session() const {
  const std::lock_guard lock{session_mutex_};
  return Session{session_};
}

// ---- making a session
// ----------------------------------------------------------------------------------------------------

void ClientCore::start() {
  asio::dispatch(runtime_->serial(), [self = shared_from_this()] { self->resolve(); });
}

namespace {

/// The C client takes the last colon for the port's and knows no brackets.
std::string numeric(const asio::ip::address& address, std::uint16_t port) {
  return address.to_string() + ":" + std::to_string(port);
}

/// Looks up one server after the other; those that are addresses already cost nothing.
struct Resolution : std::enable_shared_from_this<Resolution> {
  using Done = std::function<void(std::vector<std::string>)>;

  Resolution(tcp::resolver& r, std::vector<HostPort> s, Done d)
      : resolver{r}, servers{std::move(s)}, done{std::move(d)} {}

  tcp::resolver& resolver;  // of the client that `done` keeps alive
  std::vector<HostPort> servers;
  Done done;
  std::vector<std::string> found{};
  std::size_t next = 0;

  void run() {
    for (; next < servers.size(); ++next) {
      boost::system::error_code not_numeric;
      const auto address = asio::ip::make_address(servers[next].host, not_numeric);
      if (not_numeric) return look_up();
      add(numeric(address, servers[next].port));
    }
    done(std::move(found));
  }

  void look_up() {
    resolver.async_resolve(servers[next].host, std::to_string(servers[next].port), tcp::resolver::numeric_service,
                           [self = shared_from_this()](error_code error, const tcp::resolver::results_type& results) {
                             if (error == asio::error::operation_aborted) return;  // the client is closing
                             if (!error)
                               for (const auto& entry : results)
                                 self->add(numeric(entry.endpoint().address(), entry.endpoint().port()));
                             ++self->next;
                             self->run();
                           });
  }

  void add(std::string server) {
    if (std::find(found.begin(), found.end(), server) == found.end()) found.push_back(std::move(server));
  }
};

}  // namespace

void ClientCore::resolve() {
  if (closing_) return;
  auto done = [self = shared_from_this()](std::vector<std::string> servers) { self->connect(std::move(servers)); };
  const auto resolution = std::make_shared<Resolution>(resolver_, target_.servers, std::move(done));
  resolution->run();
}

void ClientCore::connect(std::vector<std::string> servers) {
  if (closing_) return;
  if (!servers.empty()) return make_session(std::move(servers));
  if (config_.logger)
    config_.logger->warn("zklock: no server name of {} can be looked up, trying again", config_.connect_string);
  resolve_again_.expires_after(1s);
  resolve_again_.async_wait([weak = weak_from_this()](error_code error) {
    if (const auto self = weak.lock(); self && !error) self->resolve();
  });
}

void ClientCore::make_session(std::vector<std::string> servers) {
  auto driver = std::make_shared<CClientDriver>(
      runtime_->serial(), CClientOptions{std::move(servers), config_.session_timeout, config_.logger});
  auto session = std::make_shared<SessionCore>(runtime_, std::move(driver),
                                               SessionConfig{config_.session_timeout, target_.chroot, config_.logger});
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

void ClientCore::on_session_state(SessionState state) {
  switch (state) {
    case SessionState::connecting: return;
    case SessionState::connected:
      enter(std::exchange(connected_before_, true) ? ConnectionState::reconnected : ConnectionState::connected);
      return answer_waiters({});
    case SessionState::suspended: return enter(ConnectionState::suspended);
    case SessionState::read_only: return enter(ConnectionState::read_only);
    case SessionState::expired: enter(ConnectionState::lost); return resolve();
    case SessionState::auth_failed:
      failed_ = make_error_code(Error::auth_failed);
      enter(ConnectionState::lost);
      return answer_waiters(failed_);
    case SessionState::closed: return;
  }
}

void ClientCore::enter(ConnectionState state) {
  if (config_.logger) config_.logger->info("zklock: client {} is {}", config_.client_id, to_string(state));
  states_.publish(state);
}

// ---- those who wait for it
// -----------------------------------------------------------------------------------------------

void ClientCore::answer_waiters(error_code error) {
  const Session current = error ? Session{} : session();
  for (const auto& waiter : std::exchange(waiters_, {})) waiter->complete(error, current);
}

void ClientCore::await_session(Deadline deadline, Handler<Session> handler) {
  const auto waiter = std::make_shared<Waiter>(std::move(handler), runtime_->serial());
  on_cancellation(*waiter->handler, [weak = std::weak_ptr{waiter}, serial = runtime_->serial()] {
    asio::dispatch(serial, [weak] {
      if (const auto self = weak.lock()) self->complete(make_error_code(asio::error::operation_aborted));
    });
  });
  asio::dispatch(runtime_->serial(), [self = shared_from_this(), waiter, deadline] {
    if (!waiter->handler) return;
    if (self->closing_) return waiter->complete(make_error_code(Error::closed));
    if (self->failed_) return waiter->complete(self->failed_);
    const Session current = self->session();
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

void ClientCore::close(Handler<> handler) {
  if (closed_) return deliver_later(runtime_->serial(), std::move(handler), error_code{});
  close_waiters_.push_back(std::move(handler));
  if (std::exchange(closing_, true)) return;
  resolver_.cancel();
  resolve_again_.cancel();
  answer_waiters(make_error_code(Error::closed));
  if (!session_) return finish_close();
  session_->close(CloseMode::graceful, [self = shared_from_this()] { self->finish_close(); });
}

void ClientCore::finish_close() {
  closed_ = true;
  enter(ConnectionState::closed);
  // Each brings us along: the last one may be all that keeps the threads.
  for (Handler<>& handler : std::exchange(close_waiters_, {}))
    asio::post(runtime_->serial(), [self = shared_from_this(), handler = std::move(handler)]() mutable {
      deliver(std::move(handler), error_code{});
    });
}

asio::any_io_executor callback_executor(const ClientCore& client) { return client.runtime().callback_executor(); }

void start_session(std::shared_ptr<ClientCore> client, Deadline deadline, Handler<Session> handler) {
  client->await_session(deadline, std::move(handler));
}

void start_close(std::shared_ptr<ClientCore> client, Handler<> handler) {
  const auto serial = client->runtime().serial();
  asio::dispatch(serial, [client = std::move(client), handler = std::move(handler)]() mutable {
    client->close(std::move(handler));
  });
}

}  // namespace zklock::detail
