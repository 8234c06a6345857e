#include "proof_of_life.hpp"

#include <algorithm>

namespace zklock {

void Contact::add(Clock::time_point sent) noexcept { answered = std::max(answered, sent); }
void Contact::add_acknowledged(Clock::time_point sent) noexcept {
  acknowledged = std::max(acknowledged, sent);
  earliest_acknowledged = std::min(earliest_acknowledged, sent);
}
void Contact::add_handshake(Clock::time_point sent) noexcept {
  handshake = std::max(handshake, sent);
  add(sent);
}

void ProofOfLife::on_contact(const Contact& contact, Clock::time_point now, Clock::duration timeout) {
  if (contact.handshake != Contact::none) on_handshake(contact.handshake, now, timeout);
  if (contact.acknowledged != Contact::none) on_acknowledged(contact, now, timeout);
  if (contact.answered != Contact::none) on_answered(contact.answered, now, timeout);
}

/// The leader makes a new session, or has just heard of one that it has. A leader that goes on after it has stood still
/// may say yes to that and end the session all the same: it has been on its list of those to be ended (3.8.0). So it
/// counts when something sent at least `guard` later is acknowledged.
void ProofOfLife::on_handshake(Clock::time_point sent, Clock::time_point now, Clock::duration timeout) {
  answers_.clear();  // another server's, maybe, and older than the handshake
  const bool is_new = valid_until_ == Clock::time_point::min();
  if (is_new) return prove(sent, timeout);
  answers_.push_back({sent, now - timeout / 4});  // what a follower has to pass on is there already
}

/// A quarter of T is half a tick at the least, as T is two ticks. (Where minSessionTimeout is lower that does not hold:
/// docs/guarantees.md, what does not hold, 14.) What has come late, or was sent just after that, proves nothing.
void ProofOfLife::on_acknowledged(const Contact& contact, Clock::time_point now, Clock::duration timeout) {
  const Clock::duration quarter = timeout / 4;
  if (contact.earliest_acknowledged + quarter < now) stood_still_until_ = now;
  if (contact.acknowledged < stood_still_until_ + guard) return;
  while (!answers_.empty() && answers_.front().arrived + quarter + guard <= contact.acknowledged) {
    prove(answers_.front().sent, timeout);
    answers_.pop_front();
  }
}

/// Answers that come thick and fast are thinned out.
void ProofOfLife::on_answered(Clock::time_point sent, Clock::time_point now, Clock::duration timeout) {
  if (!answers_.empty() && now - answers_.back().arrived < timeout / 32) return;
  while (!answers_.empty() && now - answers_.front().arrived > timeout) answers_.pop_front();
  answers_.push_back({sent, now});
}

void ProofOfLife::prove(Clock::time_point sent, Clock::duration timeout) {
  valid_until_ = std::max(valid_until_, sent + timeout - guard);
}

}  // namespace zklock
