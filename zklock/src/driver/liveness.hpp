// What a connection has sent, what of it the servers have answered, and when it has to send something.
#pragma once

#include "session_validity.hpp"

#include <zklock/clock.hpp>

#include <utility>

namespace zklock {

/// The requests of one driver, whatever they are for, and the acknowledgements that it has to report.
///
/// A heartbeat is a request like any other, so that its reply is known by its number. The C client's pings are not
/// counted: it does not tell when it sends one, and their replies have no number. It sends one when nothing was sent
/// for a third of the session timeout and no reply is due, so an earlier heartbeat leaves it none to send.
///
/// Threads: one at a time.
class Liveness {
 public:
  void on_sent(Clock::time_point when) noexcept { last_sent_ = when; }
  void on_reply(Clock::time_point sent) noexcept { ack_.add(sent); }
  /// The leader has taken part in the reply.
  void on_acknowledged(Clock::time_point sent) noexcept { ack_.add_acknowledged(sent); }
  void on_handshake(Clock::time_point began) noexcept { ack_.add_handshake(began); }

  /// When the last request was sent.
  [[nodiscard]] Clock::time_point last_sent() const noexcept { return last_sent_; }
  /// When to send a heartbeat, if there is a connection and no reply is due.
  [[nodiscard]] Clock::time_point heartbeat_due(Clock::duration session_timeout) const noexcept {
    return last_sent_ + session_timeout * 3 / 10;
  }
  [[nodiscard]] ServerAck take_ack() noexcept { return std::exchange(ack_, {}); }

 private:
  Clock::time_point last_sent_{};
  ServerAck ack_;  // not reported yet
};

}  // namespace zklock
