#include "c_client_driver.hpp"
#include "client_core.hpp"

#include <zklock/client.hpp>
#include <zklock/client_id.hpp>
#include <zklock/detail/existing.hpp>
#include <zklock/path.hpp>
#include <zklock/recipe_kit/blocking.hpp>

#include <boost/asio/append.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>

namespace zklock {

using detail::existing;
using detail::refuse;
using namespace std::chrono_literals;

namespace {

ClientConfig validated(ClientConfig config) {
  if (config.session_timeout < 100ms || config.session_timeout > 24h)
    refuse(Error::invalid_timeout, "session_timeout must be 100 ms to 24 h");
  if (config.connection_timeout < 0ms) refuse(Error::invalid_timeout, "connection_timeout must not be negative");
  if (config.operation_timeout < 0ms) refuse(Error::invalid_timeout, "operation_timeout must not be negative");
  if (config.sessions < 1 || config.sessions > 64) refuse(Error::bad_arguments, "sessions must be 1 to 64");
  if (config.max_retries_per_second < 1) refuse(Error::bad_arguments, "max_retries_per_second must be positive");
  if (config.max_outstanding < 1) refuse(Error::bad_arguments, "max_outstanding must be positive");
  if (config.busy_poll < 0us || config.busy_poll > 1ms) refuse(Error::bad_arguments, "busy_poll must be 0 to 1 ms");
  if (config.reconnect_jitter < 0ms) refuse(Error::bad_arguments, "reconnect_jitter must not be negative");
  if (config.slow_wait < 0ms) refuse(Error::invalid_timeout, "slow_wait must not be negative");
  validate_path(config.ledger_path);
  if (config.ledger_path == "/") refuse(Error::invalid_path, "ledger_path must not be the root");
  if (std::ranges::find(config.observers, nullptr) != config.observers.end())
    refuse(Error::bad_arguments, "an observer is null");
  if (config.max_buffer < 1'024 || config.max_buffer > INT32_MAX)
    refuse(Error::bad_arguments, "max_buffer must be 1 KiB to 2 GiB");
  for (const AuthInfo& auth : config.auth)
    if (auth.scheme.empty() || auth.scheme.find('\0') != std::string::npos)
      refuse(Error::bad_arguments, "auth without a scheme");
  for (const AuthInfo& auth : config.auth)
    if (auth.scheme.size() + auth.credential.size() + 64 > config.max_buffer)
      refuse(Error::payload_too_large, "auth larger than max_buffer");
  config.reconnect_jitter = std::min<std::chrono::milliseconds>(config.reconnect_jitter, 24h);  // in nanoseconds, too
  config.slow_wait = std::min<std::chrono::milliseconds>(config.slow_wait, 24h * 365);
  config.retry.validate();
  if (!config.codec) config.codec = std::make_shared<GzipCodec>(config.max_decoded);
  if (config.client_id.empty()) config.client_id = make_client_id();
  validate_client_id(config.client_id);
  static_cast<void>(parse_connect_string(config.connect_string));
  return config;
}

std::shared_ptr<detail::ClientCore> start(std::shared_ptr<Runtime> runtime, ClientConfig config,
                                          DriverFactory make_driver) {
  auto core = std::make_shared<detail::ClientCore>(std::move(runtime), std::move(config), std::move(make_driver));
  core->start();
  return core;
}

std::shared_ptr<Driver> make_c_client_driver(asio::any_io_executor executor, DriverOptions options) {
  return std::make_shared<CClientDriver>(std::move(executor), std::move(options));
}

}  // namespace

// ---- operations of any handle

asio::any_io_executor ClientHandle::get_executor() const { return existing(ref_).runtime()->serial(); }
asio::any_io_executor ClientHandle::callback_executor() const { return existing(ref_).runtime()->callback_executor(); }
const std::string& ClientHandle::client_id() const noexcept { return config().client_id; }
const ClientConfig& ClientHandle::config() const noexcept {
  static const ClientConfig unowned;
  return ref_ ? ref_->config() : unowned;
}
std::string ClientHandle::server_path(const std::string& path) const { return detail::server_path_of(ref_, path); }
detail::SharedState& ClientHandle::shared_state() const { return existing(ref_).shared_state(); }
bool ClientHandle::blocking_would_deadlock() const noexcept {
  return ref_ && ref_->runtime()->blocking_would_deadlock();
}
bool ClientHandle::in_forked_child() const noexcept { return ref_ && ref_->runtime()->in_forked_child(); }

ClientHealth ClientHandle::health() const {
  detail::refuse_after_fork(existing(ref_));
  return ref_->health();
}

std::string ClientHandle::connection_trouble() const {
  detail::refuse_after_fork(existing(ref_));
  return ref_->trouble();
}

ClientHandle ClientHandle::using_namespace(std::string name) const {
  if (!name.empty() && !name.starts_with('/')) name.insert(name.begin(), '/');
  if (name == "/") name.clear();
  if (!name.empty()) validate_path(name);
  return ClientHandle{detail::ClientRef{ref_.core(), std::move(name)}};
}

namespace detail {

std::string prefix_of(const ClientRef& client) { return existing(client).chroot() + client.name_space(); }
std::string server_path_of(const ClientRef& client, const std::string& path) {
  const std::string prefix = prefix_of(client);
  return path == "/" && !prefix.empty() ? prefix : prefix + path;
}
SessionKeeper& keeper_of(const ClientRef& client, const std::string& path) {
  refuse_after_fork(existing(client));
  return client->keeper_of(server_path_of(client, path));
}

}  // namespace detail

ConnectionState ClientHandle::state() const {
  detail::refuse_after_fork(existing(ref_));
  return ref_->state();
}
StateStream ClientHandle::states() const {
  detail::refuse_after_fork(existing(ref_));
  return StateStream{ref_->subscribe()};
}
StateStream ClientHandle::states(const std::string& path) const {
  return StateStream{detail::keeper_of(ref_, path).subscribe()};
}
Session ClientHandle::session(const std::string& path) const {
  return detail::keeper_of(ref_, path).session(detail::prefix_of(ref_));
}

namespace {

/// Passes one state after another to the callback, as long as the subscription exists.
struct Listener : std::enable_shared_from_this<Listener> {
  Listener(StateStream s, std::function<void(ConnectionState)> c, const asio::any_io_executor& executor)
      : stream{std::move(s)}, callback{std::move(c)}, strand{asio::make_strand(executor)} {}

  StateStream stream;
  std::function<void(ConnectionState)> callback;
  asio::strand<asio::any_io_executor> strand;

  void next() {
    stream.async_next(asio::bind_executor(strand, [weak = weak_from_this()](error_code error, ConnectionState state) {
      const auto self = weak.lock();
      if (!self || error) return;
      self->callback(state);
      self->next();
    }));
  }
};

}  // namespace

StateSubscription ClientHandle::subscribe(std::function<void(ConnectionState)> callback) const {
  if (!callback) refuse(Error::invalid_handler, "subscribe");
  const auto listener = std::make_shared<Listener>(states(), std::move(callback), callback_executor());
  listener->next();
  return StateSubscription{listener};
}

bool ClientHandle::wait_connected(std::chrono::milliseconds wait) const {
  existing(ref_).runtime()->refuse_after_fork();
  const Deadline deadline = after(wait);
  for (const auto& keeper : ref_->keepers()) {
    const auto outcome = detail::block_until<Session>(deadline, Error::timed_out, *this, [&](auto token) {
      keeper->await_session(deadline, {}, detail::Handler<Session>{std::move(token)});
    });
    if (outcome.error == Error::not_connected || outcome.error == Error::timed_out ||
        outcome.error == Error::executor_not_running)
      return false;
    if (outcome.error) throw boost::system::system_error{outcome.error, "wait_connected"};
  }
  return true;
}

namespace detail {

Awaited awaited_of(const ClientHandle& client) {
  const bool always_runs = existing(client.ref()).runtime()->has_own_thread();
  return {client.get_executor(),
          always_runs ? std::nullopt : std::optional<Clock::duration>{client.config().connection_timeout}};
}

error_code why_not_block(const ClientHandle& client) noexcept {
  return client.blocking_would_deadlock() ? make_error_code(Error::blocking_in_handler) : error_code{};
}

Runtime& home_of(const ClientCore& client) { return *client.runtime(); }

void start_session(ClientRef client, std::string path, Deadline deadline, Handler<Session> handler) {
  keeper_of(client, path).await_session(deadline, prefix_of(client), std::move(handler));
}

void close_client(const ClientRef& client, CloseMode mode, Handler<> handler) {
  asio::dispatch(client->runtime()->serial(), [core = client.core(), mode, handler = std::move(handler)]() mutable {
    core->close(mode, std::move(handler));
  });
}

void start_close(ClientRef client, Handler<> handler) { close_client(client, CloseMode::graceful, std::move(handler)); }

void start_abort(ClientRef client, Handler<> handler) { close_client(client, CloseMode::abortive, std::move(handler)); }

Client ClientAccess::make(std::shared_ptr<Runtime> runtime, ClientConfig config, DriverFactory make_driver) {
  return Client{start(std::move(runtime), validated(std::move(config)), std::move(make_driver))};
}

}  // namespace detail

// ---- operations of the owner

Client::Client(std::shared_ptr<detail::ClientCore> core) noexcept : ClientHandle{detail::ClientRef{std::move(core)}} {}

Client::Client(ClientConfig config) : ClientHandle{detail::ClientRef{}} {
  config = validated(std::move(config));  // before any thread starts
  ref_ = detail::ClientRef{start(std::make_shared<Runtime>(), std::move(config), make_c_client_driver)};
}

Client::Client(asio::any_io_executor executor, ClientConfig config)
    : Client{
          start(std::make_shared<Runtime>(std::move(executor)), validated(std::move(config)), make_c_client_driver)} {}

/// In a forked child the connection is the parent's, and the threads do not exist. Nothing may be touched, so it leaks.
Client::~Client() {
  if (!ref_) return;
  if (in_forked_child()) {
    static_cast<void>(new detail::ClientRef{ref_});
    return;
  }
  close();
  // A callback that runs may keep the threads alive itself, as a subscriber's does.
  if (!blocking_would_deadlock()) ref_->runtime()->flush_callbacks();
}

void Client::update_server_list(const std::string& connect_string) {
  existing(ref_).runtime()->refuse_after_fork();
  ConnectString target = parse_connect_string(connect_string);
  if (!target.chroot.empty() && target.chroot != ref_->chroot())
    refuse(Error::invalid_connect_string, "another chroot needs another Client: " + zklock::quoted(connect_string));
  ref_->set_servers(std::move(target.servers));
}

void Client::close() { close_with(&detail::start_close); }
void Client::abort() { close_with(&detail::start_abort); }

void Client::close_with(void (*start)(detail::ClientRef, detail::Handler<>)) {
  const auto runtime = existing(ref_).runtime();
  runtime->refuse_after_fork();
  if (blocking_would_deadlock() || !runtime->has_own_thread()) {
    start(ref_, detail::Handler<>{asio::bind_executor(get_executor(), [](error_code) {})});
    return;
  }
  detail::block_on(get_executor(), [&](auto token) { start(ref_, detail::Handler<>{std::move(token)}); });
  // Operations that failed complete by way of the lane.
  detail::block_on(ref_->lane(), [&](auto token) { asio::post(asio::append(std::move(token), error_code{})); });
  runtime->flush();
}

}  // namespace zklock
