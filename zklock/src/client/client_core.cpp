#include "client_core.hpp"

#include "completion.hpp"

#include <boost/asio/dispatch.hpp>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace zklock::detail {

using namespace std::chrono_literals;

namespace {

std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> clients{0};
  return ++clients;
}

}  // namespace

ClientCore::ClientCore(std::shared_ptr<Runtime> runtime, ClientConfig config, DriverFactory make_driver)
    : runtime_{std::move(runtime)},
      config_{std::move(config)},
      observers_{Observers<Observer>::of(config_.observers, config_.logger)},
      told_(config_.sessions),
      health_report_{runtime_->serial()},
      number_{next_number()},
      target_{parse_connect_string(config_.connect_string)},
      make_driver_{std::move(make_driver)},
      lane_{std::make_shared<Lane>(runtime_->serial())},
      retry_turns_{std::make_shared<RetryTurns>(runtime_, config_.max_retries_per_second)} {}

ClientCore::Place::Place(std::shared_ptr<ClientCore> core) noexcept : core_{std::move(core)} {
  if (core_->outstanding_.fetch_add(1) < core_->config_.max_outstanding) return;
  --core_->outstanding_;
  core_.reset();
}

void ClientCore::Place::leave() noexcept {
  if (const auto core = std::exchange(core_, nullptr)) --core->outstanding_;
}

void ClientCore::start() {
  const SessionConfig session{config_.session_timeout, config_.max_buffer, config_.acl_provider,
                              config_.logger,          observers_,         config_.client_id};
  const DriverOptions driver{{},
                             config_.session_timeout,
                             config_.auth,
                             config_.max_buffer,
                             config_.logger,
                             config_.busy_poll,
                             config_.reconnect_jitter};
  for (std::size_t i = 0; i < config_.sessions; ++i)
    keepers_.push_back(std::make_shared<SessionKeeper>(
        runtime_, SessionKeeper::Config{session, driver, make_driver_, config_.connect_string, lane()},
        [weak = weak_from_this(), i](ConnectionState state) {
          if (const auto self = weak.lock()) self->on_state(i, state);
        }));
  servers_ = std::make_shared<ServerList>(runtime_->serial(), config_.logger,
                                          [weak = weak_from_this()](const ServerList::Addresses& addresses) {
                                            const auto self = weak.lock();
                                            if (!self || self->closed_) return;
                                            for (const auto& keeper : self->keepers_) keeper->set_servers(addresses);
                                          });
  runtime_->at_end_of_context(weak_from_this(), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->abandon();
  });
  set_servers(target_.servers);
  if (observers_) asio::dispatch(runtime_->serial(), [self = shared_from_this()] { self->await_health_report(); });
}

void ClientCore::set_servers(std::vector<HostPort> servers) {
  asio::dispatch(runtime_->serial(), [self = shared_from_this(), servers = std::move(servers)]() mutable {
    self->has_begun_ = true;
    self->servers_->set(std::move(servers));
  });
}

std::string ClientCore::trouble() const {
  if (!has_begun_) return "nothing has run the client's executor yet";
  for (const auto& keeper : keepers_)
    if (std::string text = keeper->trouble(); !text.empty()) return text;
  return {};
}

SessionKeeper& ClientCore::keeper_of(std::string_view server_path) const noexcept {
  return *keepers_[std::hash<std::string_view>{}(server_path) % keepers_.size()];
}

// ---- states

ConnectionState combined(const std::vector<ConnectionState>& states, bool connected_before) noexcept {
  using enum ConnectionState;
  for (const ConnectionState worst : {lost, suspended, connecting, read_only, closed})
    if (std::ranges::find(states, worst) != states.end())
      return worst == connecting && connected_before ? suspended : worst;
  return connected_before ? reconnected : connected;
}

void ClientCore::on_state(std::size_t session_number, ConnectionState state) {
  if (state == ConnectionState::closed) return tell_state(session_number, state);  // published once all are closed
  std::vector<ConnectionState> all;
  for (const auto& keeper : keepers_) all.push_back(keeper->state());
  const ConnectionState before = states_.get();
  const ConnectionState now = combined(all, before != ConnectionState::connecting);
  const bool all_well = now == ConnectionState::connected || now == ConnectionState::reconnected;
  if (all_well) {
    servers_->stop_refresh();
  } else {
    servers_->start_refresh(longest_pause_of_look_ups());
  }
  const bool was_well = before == ConnectionState::connected || before == ConnectionState::reconnected;
  if (state == ConnectionState::lost || (now != before && !(all_well && was_well))) states_.publish(now);
  tell_state(session_number, state);
}

/// While a session may be resumed, its name's new address is of use for less than the session's timeout.
Clock::duration ClientCore::longest_pause_of_look_ups() const {
  Clock::duration longest = ServerList::longest_pause;
  for (const auto& keeper : keepers_)
    if (keeper->state() == ConnectionState::suspended)
      longest = std::min<Clock::duration>(longest, keeper->health().timeout / 10);
  return longest;
}

void ClientCore::tell_state(std::size_t session_number, ConnectionState state) {
  if (!observers_) return;
  const SessionKeeper& keeper = *keepers_[session_number];
  Told& told = told_[session_number];
  const bool has_link = state == ConnectionState::connected || state == ConnectionState::reconnected ||
                        state == ConnectionState::read_only;
  if (const Session session = keeper.session({}); session && has_link) {
    told.session_id = session.id();
    told.timeout = session.timeout();
  }
  const std::string cause = has_link ? std::string{} : keeper.trouble();
  StateEvent event;
  event.client_id = config_.client_id;
  event.session_number = session_number;
  event.from = std::exchange(told.state, state);
  event.to = state;
  event.client = states_.get();
  event.session_id = told.session_id;
  event.session_timeout = told.timeout;
  event.cause = cause;
  observers_->tell(&Observer::on_state, event);
  tell_health();
}

// ---- the end

void ClientCore::close(CloseMode mode, Handler<> handler) {
  if (closed_) return deliver_later(*runtime_, std::move(handler), error_code{});
  close_waiters_.push_back(std::move(handler));
  if (std::exchange(closing_, true)) {
    if (mode == CloseMode::abortive)
      for (const auto& keeper : keepers_) keeper->cut_short();
    return;
  }
  if (mode == CloseMode::graceful) shared_state_.close();
  retry_turns_->close();
  open_keepers_ = keepers_.size();
  for (const auto& keeper : keepers_)
    keeper->close(mode, [self = shared_from_this()] {
      if (--self->open_keepers_ == 0) self->finish_close();
    });
}

void ClientCore::abandon() {
  closing_ = closed_ = true;
  health_report_.cancel();
  servers_->close();
  retry_turns_->abandon();
  for (const auto& keeper : keepers_) keeper->abandon();
  states_.publish(ConnectionState::closed);
  for (std::size_t i = 0; i < keepers_.size(); ++i)
    if (told_[i].state != ConnectionState::closed) tell_state(i, ConnectionState::closed);
  close_waiters_.clear();
}

void ClientCore::finish_close() {
  closed_ = true;
  health_report_.cancel();
  servers_->close();
  states_.publish(ConnectionState::closed);
  tell_health();
  // Each handler keeps the core alive: the last one may be all that keeps the threads.
  for (Handler<>& handler : std::exchange(close_waiters_, {}))
    asio::post(runtime_->serial(), [self = shared_from_this(), handler = std::move(handler)]() mutable {
      deliver(std::move(handler), error_code{});
    });
}

}  // namespace zklock::detail
