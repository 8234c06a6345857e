#include "session_core.hpp"

#include <zklock/path.hpp>

#include <spdlog/spdlog.h>

namespace zklock::detail {

SessionCore::SessionCore(std::shared_ptr<Runtime> runtime, std::shared_ptr<Driver> driver, SessionConfig config)
    : runtime_{std::move(runtime)},
      driver_{std::move(driver)},
      config_{std::move(config)},
      timeout_{config_.timeout},
      expiry_{runtime_->serial()} {}

void SessionCore::start() { driver_->start(weak_from_this()); }

void SessionCore::close(CloseMode mode, std::function<void()> closed) {
  const bool ended = is_final(state());
  driver_->close(mode, make_error_code(Error::closing), std::move(closed));
  if (ended) return;
  expiry_.cancel();
  on_state = nullptr;
  enter(SessionState::closed);
}

void SessionCore::abandon() {
  expiry_.cancel();
  on_state = nullptr;
  if (!is_final(state())) enter(SessionState::closed);
  driver_->abandon();
}

SessionCredentials SessionCore::credentials() const {
  const std::lock_guard lock{credentials_mutex_};
  return credentials_;
}

void SessionCore::on_contact(Clock::time_point sent) { contact_ = std::max(contact_, sent); }

void SessionCore::on_link_state(LinkState link) {
  if (is_final(state())) return;
  switch (link) {
    case LinkState::connected: {
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
    case LinkState::expired: return end(SessionState::expired, CloseMode::abortive);
    case LinkState::auth_failed: return end(SessionState::auth_failed, CloseMode::abortive);
  }
}

/// Failures are the caller's to judge, and while the link is down there are many: debug.
void SessionCore::log_failure(Operation operation, const std::string& path, error_code error) const {
  if (config_.logger)
    config_.logger->debug("zklock: session={:#x} op={} path={} error={} ({})",
                          static_cast<std::uint64_t>(credentials().id), to_string(operation), quoted(path),
                          error.value(), error.message());
}

void SessionCore::enter(SessionState state) {
  if (config_.logger)
    config_.logger->info("zklock: session={:#x} state={}", static_cast<std::uint64_t>(credentials().id),
                         to_string(state));
  state_ = state;
  states_.publish(state);
  if (on_state) on_state(state);
}

void SessionCore::end(SessionState state, CloseMode mode) {
  expiry_.cancel();
  const auto listener = std::exchange(on_state, {});
  enter(state);
  driver_->close(mode, error_of(state), {});
  if (listener) listener(state);
}

/// The servers cannot tell us that the session is over while we cannot reach them (37), so our own clock does. They
/// count from what they have heard, so we count from when that was sent: we are never the later ones to know. The
/// session may yet be alive there, if their clock is slow or they were away themselves: it is closed when we find them.
void SessionCore::await_expiry() {
  expiry_.expires_at(contact_ + timeout());
  expiry_.async_wait([weak = weak_from_this()](error_code error) {
    const auto self = weak.lock();
    if (self && !error && self->state() == SessionState::suspended)
      self->end(SessionState::expired, CloseMode::when_reachable);
  });
}

}  // namespace zklock::detail
