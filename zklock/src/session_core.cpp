#include "session_core.hpp"

#include <spdlog/spdlog.h>

namespace zklock::detail {

SessionCore::SessionCore(std::shared_ptr<Runtime> runtime, std::shared_ptr<Driver> driver, SessionConfig config)
    : runtime_{std::move(runtime)},
      driver_{std::move(driver)},
      config_{std::move(config)},
      timeout_{config_.timeout},
      expiry_{runtime_->serial()} {}

namespace {

error_code error_of(SessionState state) {
  switch (state) {
    case SessionState::expired: return make_error_code(Error::session_expired);
    case SessionState::auth_failed: return make_error_code(Error::auth_failed);
    default: return make_error_code(Error::closing);
  }
}

}  // namespace

void SessionCore::start() { driver_->start(weak_from_this()); }

void SessionCore::close(CloseMode mode, std::function<void()> closed) {
  const bool ended = is_final(state());
  driver_->close(mode, make_error_code(Error::closing), std::move(closed));
  if (!ended) end(SessionState::closed);
}

std::string SessionCore::to_server(const std::string& path) const {
  if (config_.chroot.empty()) return path;
  return path == "/" ? config_.chroot : config_.chroot + path;
}

std::string SessionCore::from_server(std::string path) const {
  if (config_.chroot.empty()) return path;
  return path.size() <= config_.chroot.size() ? "/" : path.substr(config_.chroot.size());
}

SessionCredentials SessionCore::credentials() const {
  const std::lock_guard lock{credentials_mutex_};
  return credentials_;
}

void SessionCore::on_link_state(LinkState link) {
  if (is_final(state())) return;
  switch (link) {
    case LinkState::connected: {
      last_contact_ = Clock::now();
      expiry_.cancel();
      timeout_ = driver_->session_timeout();
      {
        const std::lock_guard lock{credentials_mutex_};
        credentials_ = driver_->credentials();
      }
      return enter(SessionState::connected);
    }
    case LinkState::read_only: return enter(SessionState::read_only);
    case LinkState::disconnected:
      if (state() == SessionState::connecting) return;
      await_expiry();
      return enter(SessionState::suspended);
    case LinkState::expired: return end(SessionState::expired);
    case LinkState::auth_failed: return end(SessionState::auth_failed);
  }
}

void SessionCore::enter(SessionState state) {
  if (config_.logger)
    config_.logger->info("zklock: session {:#x} is {}", static_cast<std::uint64_t>(credentials().id), to_string(state));
  state_ = state;
  states_.publish(state);
  if (on_state) on_state(state);
}

void SessionCore::end(SessionState state) {
  expiry_.cancel();
  const auto listener = std::exchange(on_state, {});
  enter(state);
  driver_->close(CloseMode::abortive, error_of(state), {});
  if (listener) listener(state);
}

/// The servers cannot tell us that the session is over while we cannot reach them (37), so our own clock does.
void SessionCore::await_expiry() {
  expiry_.expires_at(last_contact_ + timeout());
  expiry_.async_wait([weak = weak_from_this()](error_code error) {
    const auto self = weak.lock();
    if (self && !error && self->state() == SessionState::suspended) self->end(SessionState::expired);
  });
}

}  // namespace zklock::detail
