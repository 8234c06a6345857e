// Until when a session is certainly alive: pure arithmetic on what the servers have answered.
#pragma once

#include <zklock/clock.hpp>

#include <deque>

namespace zklock {

/// What has been answered since the last report; each as the time when the latest such request was sent, or `none`.
struct Contact {
  static constexpr Clock::time_point none = Clock::time_point::min();

  Clock::time_point handshake = none;     ///< a connection made, the session granted or found alive
  Clock::time_point answered = none;      ///< anything, a heartbeat among it
  Clock::time_point acknowledged = none;  ///< a write or a sync, which the leader has a part in
  Clock::time_point earliest_acknowledged = Clock::time_point::max();  ///< the first sent of these

  [[nodiscard]] bool is_empty() const noexcept { return answered == none; }
  void add(Clock::time_point sent) noexcept;
  void add_acknowledged(Clock::time_point sent) noexcept;
  void add_handshake(Clock::time_point sent) noexcept;
};

/// The leader ends a session that it has not heard of for its timeout T. What a follower has heard from us it passes on
/// when the leader asks, every half tick, so one acknowledged write proves little by itself: what counts is the latest
/// request that was answered some time before such a write was sent, because the news of it had reached the leader by
/// then. A write that is acknowledged late, after a quarter of T, proves nothing: the leader may have stood still and
/// asked nobody, and is about to end sessions. A handshake goes to the leader itself; it counts once a write that was
/// sent later is acknowledged. (docs/faults.md 35b, 35c.)
///
/// Threads: one at a time.
class ProofOfLife {
 public:
  /// For clocks that do not run alike, and for what is late on its way.
  static constexpr Clock::duration guard = std::chrono::milliseconds{50};

  void on_contact(const Contact& contact, Clock::time_point now, Clock::duration timeout);

  /// The servers keep the session until then at the least; time_point::min(): nothing is known.
  [[nodiscard]] Clock::time_point valid_until() const noexcept { return valid_until_; }

 private:
  struct Answer {
    Clock::time_point sent;
    Clock::time_point arrived;
  };

  void on_handshake(Clock::time_point sent, Clock::time_point now, Clock::duration timeout);
  void on_acknowledged(const Contact& contact, Clock::time_point now, Clock::duration timeout);
  void on_answered(Clock::time_point sent, Clock::time_point now, Clock::duration timeout);
  void prove(Clock::time_point sent, Clock::duration timeout);

  std::deque<Answer> answers_;  // in the order of their arrival, and none that a later one makes useless
  Clock::time_point stood_still_until_ = Clock::time_point::min();  // the leader, perhaps
  Clock::time_point valid_until_ = Clock::time_point::min();
};

}  // namespace zklock
