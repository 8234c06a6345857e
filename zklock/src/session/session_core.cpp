#include "session_core.hpp"

#include <zklock/path.hpp>

#include <boost/asio/dispatch.hpp>
#include <spdlog/spdlog.h>

#include <algorithm>

namespace zklock::detail {

SessionCore::SessionCore(std::shared_ptr<Runtime> runtime, std::shared_ptr<Driver> driver, SessionConfig config)
    : runtime_{std::move(runtime)},
      driver_{std::move(driver)},
      config_{std::move(config)},
      timeout_{config_.timeout},
      expiry_{runtime_->serial()},
      renewal_{runtime_->serial()} {}

void SessionCore::start() { driver_->start(weak_from_this()); }

void SessionCore::close(CloseMode mode, std::function<void()> closed) {
  const bool ended = is_final(state_);
  const SessionState end = is_silent() ? SessionState::expired : SessionState::closed;
  driver_->close(mode, make_error_code(Error::closing), std::move(closed));
  if (ended) return;
  expiry_.cancel();
  renewal_.cancel();
  on_state = nullptr;
  enter(end);
}

void SessionCore::abandon() {
  expiry_.cancel();
  renewal_.cancel();
  on_state = nullptr;
  if (!is_final(state_)) enter(is_silent() ? SessionState::expired : SessionState::closed);
  driver_->abandon();
}

SessionCredentials SessionCore::credentials() const {
  const std::lock_guard lock{credentials_mutex_};
  return credentials_;
}

SessionState SessionCore::state() const noexcept {
  const SessionState state = state_;
  return !is_final(state) && is_silent() ? SessionState::expired : state;
}

/// Once true it stays true, even if a reply is about to be read.
bool SessionCore::is_silent() const noexcept {
  for (Clock::time_point ack = ack_;;) {
    if (ack == never) return false;
    if (ack == too_long_ago) return true;
    if (Clock::now() < ack + timeout()) return false;
    if (ack_.compare_exchange_weak(ack, too_long_ago)) return true;
  }
}

SessionHealth SessionCore::health() const {
  SessionHealth health;
  health.state = state();
  health.session_id = credentials().id;
  health.timeout = timeout();
  if (const auto contact = last_contact_.load(); contact != ServerAck::none) health.last_contact = contact;
  if (renewals_ > 0) health.valid_until = valid_until();
  return health;
}

void SessionCore::on_server_ack(const ServerAck& ack) {
  if (is_final(state_)) return;
  last_contact_ = std::max(last_contact_.load(), ack.answered);
  if (is_silent()) return end(SessionState::expired, CloseMode::when_reachable);
  for (Clock::time_point last = ack_; last != too_long_ago && (last == never || last < ack.answered);)
    if (ack_.compare_exchange_weak(last, ack.answered)) break;
  if (ack.handshake != ServerAck::none) timeout_ = driver_->session_timeout();
  acknowledged_ = std::max(acknowledged_, ack.acknowledged);
  proof_.on_server_ack(ack, Clock::now(), timeout());
  valid_until_ = proof_.valid_until();
}

void SessionCore::on_link_state(LinkState link) {
  ++connection_;
  if (is_final(state_)) return;
  switch (link) {
    case LinkState::connected: {
      expiry_.cancel();
      {
        const std::lock_guard lock{credentials_mutex_};
        credentials_ = driver_->credentials();
      }
      if (state_ != SessionState::connecting) {  // the handshake of a new session counts at once
        handshake_counts_from_ = Clock::now() + SessionValidity::guard;
        if (renewing_) renew_after(SessionValidity::guard);
      }
      return enter(SessionState::connected);
    }
    case LinkState::read_only: return enter(SessionState::read_only);
    case LinkState::disconnected:
      if (state_ == SessionState::connecting) return;
      if (is_silent()) return end(SessionState::expired, CloseMode::when_reachable);
      await_expiry();
      return enter(SessionState::suspended);
    case LinkState::expired: log_early_end(); return end(SessionState::expired, CloseMode::abortive);
    case LinkState::auth_failed: return end(SessionState::auth_failed, CloseMode::abortive);
  }
}

/// At level debug: the caller judges failures, and there are many while the link is down.
void SessionCore::log_failure(Operation operation, const std::string& path, error_code error) const {
  if (config_.logger && config_.logger->should_log(spdlog::level::debug))
    config_.logger->debug("zklock: session={:#x} op={} path={} error={} ({})",
                          static_cast<std::uint64_t>(credentials().id), to_string(operation), zklock::quoted(path),
                          error.value(), error.message());
}

/// The session ended although its validity was proven: people should look into that.
void SessionCore::log_early_end() const {
  const auto now = Clock::now();
  const auto until = valid_until_.load();
  if (until <= now || !config_.logger) return;
  config_.logger->warn(
      "zklock: session={:#x} the servers have ended the session {} ms before they may: somebody has closed it, or "
      "their minSessionTimeout is less than two ticks",
      static_cast<std::uint64_t>(credentials().id),
      std::chrono::duration_cast<std::chrono::milliseconds>(until - now).count());
}

void SessionCore::enter(SessionState state) {
  state_ = state;  // before the log call, so that a slow log does not delay its readers
  if (config_.logger)
    config_.logger->info("zklock: session={:#x} state={}", static_cast<std::uint64_t>(credentials().id),
                         to_string(state));
  states_.publish(state);
  if (is_final(state)) tell_lapse();
  if (state == SessionState::connected || state == SessionState::suspended) tell_link(state);
  if (on_state) on_state(state);
}

void SessionCore::end(SessionState state, CloseMode mode) {
  expiry_.cancel();
  renewal_.cancel();
  const auto listener = std::exchange(on_state, {});
  enter(state);
  driver_->close(mode, error_of(state), {});
  if (listener) listener(state);
}

/// The servers cannot tell the client that its session is over while the client cannot reach them [F37], so the
/// client's own clock decides. The servers count from what they have received, and the client from when it sent that,
/// so the client never learns of the expiry too late. The session may still live at the servers, if their clock is slow
/// or they were unreachable themselves: it is closed once they are found.
void SessionCore::await_expiry() {
  expiry_.expires_at(ack_.load() + timeout());
  expiry_.async_wait([weak = weak_from_this()](error_code error) {
    const auto self = weak.lock();
    if (self && !error && self->state_ == SessionState::suspended)
      self->end(SessionState::expired, CloseMode::when_reachable);
  });
}

// ---- renewal

void SessionCore::begin_renewal() {
  ++renewals_;
  if (renewing_.exchange(true)) return;
  asio::dispatch(runtime_->serial(), [self = shared_from_this()] { self->renew(); });
}

void SessionCore::attend(std::weak_ptr<LapseListener> listener) { listeners_.add(std::move(listener)); }

void SessionCore::tell_lapse() {
  const auto told = listeners_;
  for (const auto& listener : told)
    if (const auto listening = listener.lock()) listening->on_lapse();
}

void SessionCore::tell_link(SessionState state) {
  const auto told = listeners_;
  for (const auto& listener : told)
    if (const auto listening = listener.lock()) listening->on_link(state);
}

/// Nine times in T: the proof of validity then rests on a request no older than four of these intervals, and lasts for
/// at least half of T if the replies come at once. Earlier after a handshake.
void SessionCore::renew() {
  if (is_final(state_)) return;
  const Clock::duration interval = timeout() / 9;
  const bool kept = renewals_ > 0;
  const auto now = Clock::now();
  if (kept && valid_until_.load() <= now) tell_lapse();
  const bool handshake_counts = handshake_counts_from_ <= now;
  const bool is_due = acknowledged_ + interval <= now || (handshake_counts && acknowledged_ < handshake_counts_from_);
  if (kept && state_ == SessionState::connected && is_due)
    driver_->submit(Request{.operation = Operation::sync, .path = "/"}, {}, {});
  if (!kept) {
    renewing_ = false;
    if (renewals_ == 0 || renewing_.exchange(true)) return;  // no other renewal has begun meanwhile
  }
  renew_after(handshake_counts ? interval : std::min(interval, handshake_counts_from_ - now));
}

void SessionCore::renew_after(Clock::duration pause) {
  renewal_.expires_after(pause);
  renewal_.async_wait([weak = weak_from_this()](error_code error) {
    if (const auto self = weak.lock(); self && !error) self->renew();
  });
}

}  // namespace zklock::detail
