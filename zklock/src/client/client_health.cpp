#include "client_core.hpp"

#include <algorithm>

namespace zklock::detail {

using namespace std::chrono_literals;

ClientHealth ClientCore::health() const {
  ClientHealth health;
  health.state = states_.get();
  for (const auto& keeper : keepers_) health.sessions.push_back(keeper->health());
  if (const auto delay = io_delay_.load(); delay != unknown_delay) health.io_delay = delay;
  return health;
}

void ClientCore::tell_health(std::optional<Clock::duration> io_delay) {
  if (!observers_) return;
  const ClientHealth current = health();
  HealthEvent event;
  event.client_number = number_;
  event.client_id = config_.client_id;
  event.health = &current;
  for (const auto& keeper : keepers_) event.watches += keeper->watches();
  event.io_delay = io_delay;
  observers_->tell(&Observer::on_health, event);
}

/// A timer that is late shows what keeps the heartbeats late, too: a handler that blocks, a busy executor, a pause of
/// the process.
void ClientCore::await_health_report() {
  if (closed_) return;
  health_report_.expires_after(std::min<Clock::duration>(1s, config_.session_timeout / 9));
  health_report_.async_wait([weak = weak_from_this()](error_code error) {
    const auto self = weak.lock();
    if (!self || error || self->closed_) return;
    const Clock::duration delay = Clock::now() - self->health_report_.expiry();
    self->io_delay_ = delay;
    self->tell_health(delay);
    self->await_health_report();
  });
}

}  // namespace zklock::detail
