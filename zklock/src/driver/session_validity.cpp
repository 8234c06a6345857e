#include "session_validity.hpp"

#include <algorithm>

namespace zklock {

void ServerAck::add(Clock::time_point sent) noexcept { answered = std::max(answered, sent); }
void ServerAck::add_acknowledged(Clock::time_point sent) noexcept {
  acknowledged = std::max(acknowledged, sent);
  earliest_acknowledged = std::min(earliest_acknowledged, sent);
}
void ServerAck::add_handshake(Clock::time_point sent) noexcept {
  handshake = std::max(handshake, sent);
  add(sent);
}

void SessionValidity::on_server_ack(const ServerAck& ack, Clock::time_point now, Clock::duration timeout) {
  if (ack.handshake != ServerAck::none) on_handshake(ack.handshake, now, timeout);
  if (ack.acknowledged != ServerAck::none) on_acknowledged(ack, now, timeout);
  if (ack.answered != ServerAck::none) on_answered(ack.answered, now, timeout);
}

/// The leader makes a new session, or is told of an existing one. A leader that was paused may confirm the session and
/// end it all the same, since it was already on the list of sessions to end (3.8.0). So a handshake counts once a
/// request that was sent at least `guard` later is acknowledged.
void SessionValidity::on_handshake(Clock::time_point sent, Clock::time_point now, Clock::duration timeout) {
  answers_.clear();  // may be another server's, and are older than the handshake
  const bool is_new = valid_until_ == Clock::time_point::min();
  if (is_new) return prove(sent, timeout);
  answers_.push_back({sent, now - timeout / 4});  // the leader has it already: no follower need pass it on
}

/// A quarter of T is at least half a tick, since T is at least two ticks. (That is not so where minSessionTimeout is
/// lower: docs/guarantees.md, what does not hold, 14.) A late acknowledgement proves nothing, and neither does one of a
/// request that was sent just after it.
void SessionValidity::on_acknowledged(const ServerAck& ack, Clock::time_point now, Clock::duration timeout) {
  const Clock::duration quarter = timeout / 4;
  if (ack.earliest_acknowledged + quarter < now) stood_still_until_ = now;
  if (ack.acknowledged < stood_still_until_ + guard) return;
  while (!answers_.empty() && answers_.front().arrived + quarter + guard <= ack.acknowledged) {
    prove(answers_.front().sent, timeout);
    answers_.pop_front();
  }
}

/// Keeps fewer answers when many come in a short time.
void SessionValidity::on_answered(Clock::time_point sent, Clock::time_point now, Clock::duration timeout) {
  if (!answers_.empty() && now - answers_.back().arrived < timeout / 32) return;
  while (!answers_.empty() && now - answers_.front().arrived > timeout) answers_.pop_front();
  answers_.push_back({sent, now});
}

void SessionValidity::prove(Clock::time_point sent, Clock::duration timeout) {
  valid_until_ = std::max(valid_until_, sent + timeout - guard);
}

}  // namespace zklock
