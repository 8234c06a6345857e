// What a connection has sent, and what of it the servers have answered.
#pragma once

#include "session_validity.hpp"

#include <zklock/clock.hpp>

#include <deque>
#include <utility>

namespace zklock {

/// The heartbeats of one driver, and the acknowledgements that it has to report.
///
/// Threads: one at a time.
class Liveness {
 public:
  void on_sent(Clock::time_point when) noexcept { last_sent_ = when; }
  void on_ping(Clock::time_point when) {
    pings_.push_back(when);
    last_sent_ = when;
  }
  void on_reply(Clock::time_point sent) noexcept { ack_.add(sent); }
  /// The leader has taken part in the reply.
  void on_acknowledged(Clock::time_point sent) noexcept { ack_.add_acknowledged(sent); }
  void on_ping_reply() {
    if (pings_.empty()) return;
    ack_.add(pings_.front());
    pings_.pop_front();
  }
  void on_handshake(Clock::time_point began) noexcept { ack_.add_handshake(began); }
  /// The pings that are under way will not be answered.
  void on_link_change() noexcept { pings_.clear(); }

  /// When the last request or ping was sent.
  [[nodiscard]] Clock::time_point last_sent() const noexcept { return last_sent_; }
  [[nodiscard]] bool awaits_ping_reply() const noexcept { return !pings_.empty(); }
  [[nodiscard]] ServerAck take_ack() noexcept { return std::exchange(ack_, {}); }

 private:
  Clock::time_point last_sent_{};
  std::deque<Clock::time_point> pings_;  // under way: the earliest time at which each was sent
  ServerAck ack_;                        // not reported yet
};

}  // namespace zklock
