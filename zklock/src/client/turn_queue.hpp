// A queue with a rate limit: it serves so many waiters per second.
#pragma once

#include <zklock/clock.hpp>

#include <algorithm>
#include <cstddef>
#include <list>
#include <optional>
#include <utility>

namespace zklock {

/// Gives out turns: `burst` of them at once, then one per interval. When a turn comes, the first waiter in the queue
/// takes it. A waiter that has left the queue takes none.
template <class T>
class TurnQueue {
 public:
  using Place = typename std::list<T>::iterator;

  TurnQueue(Clock::duration interval, int burst) noexcept : interval_{interval}, allowance_{interval * (burst - 1)} {}

  /// When the turn of a new waiter comes, if no waiter ahead of it leaves.
  [[nodiscard]] Clock::time_point turn_of_newcomer(Clock::time_point now) const noexcept {
    return turn_behind(waiting_.size(), now);
  }
  Place enter(T waiter) { return waiting_.insert(waiting_.end(), std::move(waiter)); }
  void leave(Place place) { waiting_.erase(place); }
  /// Removes all waiters.
  [[nodiscard]] std::list<T> clear() noexcept { return std::exchange(waiting_, {}); }

  /// Removes and returns the waiter whose turn it is now.
  [[nodiscard]] std::optional<T> take(Clock::time_point now) {
    if (waiting_.empty() || turn_behind(0, now) > now) return std::nullopt;
    taken_until_ = std::max(taken_until_, now) + interval_;
    std::optional<T> first{std::move(waiting_.front())};
    waiting_.pop_front();
    return first;
  }
  /// Returns a turn that was taken but not used.
  void give_back() noexcept { taken_until_ -= interval_; }

  /// When to call take() again; empty if there is no waiter.
  [[nodiscard]] std::optional<Clock::time_point> next_turn(Clock::time_point now) const noexcept {
    if (waiting_.empty()) return std::nullopt;
    return turn_behind(0, now);
  }
  [[nodiscard]] std::size_t size() const noexcept { return waiting_.size(); }

 private:
  [[nodiscard]] Clock::time_point turn_behind(std::size_t ahead, Clock::time_point now) const noexcept {
    const auto at_even_pace = std::max(taken_until_, now) + interval_ * static_cast<Clock::rep>(ahead);
    return std::max(now, at_even_pace - allowance_);
  }

  Clock::duration interval_;
  Clock::duration allowance_;
  Clock::time_point taken_until_{};  // until then the turns taken so far last at an even pace
  std::list<T> waiting_;
};

}  // namespace zklock
