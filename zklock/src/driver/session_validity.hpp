// Computes until when a session is certainly alive, by pure arithmetic on the servers' answers.
#pragma once

#include <zklock/clock.hpp>

#include <deque>

namespace zklock {

/// What the servers have answered since the last report: the time when the latest such request was sent, or `none`.
struct ServerAck {
  static constexpr Clock::time_point none = Clock::time_point::min();

  Clock::time_point handshake = none;     ///< a connection made: the session granted or found alive
  Clock::time_point answered = none;      ///< any request, heartbeats included
  Clock::time_point acknowledged = none;  ///< a write or a sync, in which the leader takes part
  Clock::time_point earliest_acknowledged = Clock::time_point::max();  ///< when the first of these was sent

  [[nodiscard]] bool is_empty() const noexcept { return answered == none; }
  void add(Clock::time_point sent) noexcept;
  void add_acknowledged(Clock::time_point sent) noexcept;
  void add_handshake(Clock::time_point sent) noexcept;
};

/// The leader ends a session when it has not been told of it for the session's timeout T. A follower passes on what it
/// has received from the client when the leader asks, every half tick. So one acknowledged write proves little by
/// itself. What counts is the latest request that was answered some time before such a write was sent: the leader had
/// been told of it by then. A write that is acknowledged late, after a quarter of T, proves nothing: the leader may
/// have been paused and have asked no follower, and may be about to end sessions. A handshake goes to the leader
/// itself; it counts once a write that was sent later is acknowledged [F35b, F35c].
///
/// Threads: one at a time.
class SessionValidity {
 public:
  /// A margin for clocks that run at different rates, and for messages that are late.
  static constexpr Clock::duration guard = std::chrono::milliseconds{50};

  void on_server_ack(const ServerAck& ack, Clock::time_point now, Clock::duration timeout);

  /// The servers keep the session at least until then; time_point::min() if nothing is known.
  [[nodiscard]] Clock::time_point valid_until() const noexcept { return valid_until_; }

 private:
  struct Answer {
    Clock::time_point sent;
    Clock::time_point arrived;
  };

  void on_handshake(Clock::time_point sent, Clock::time_point now, Clock::duration timeout);
  void on_acknowledged(const ServerAck& ack, Clock::time_point now, Clock::duration timeout);
  void on_answered(Clock::time_point sent, Clock::time_point now, Clock::duration timeout);
  void prove(Clock::time_point sent, Clock::duration timeout);

  std::deque<Answer> answers_;  // in the order of arrival, without those that a later one replaces
  Clock::time_point stood_still_until_ = Clock::time_point::min();  // until when the leader may have been paused
  Clock::time_point valid_until_ = Clock::time_point::min();
};

}  // namespace zklock
