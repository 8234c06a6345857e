// Those who wait for their turn: so many a second, and no more.
#pragma once

#include <zklock/clock.hpp>

#include <algorithm>
#include <cstddef>
#include <list>
#include <optional>
#include <utility>

namespace zklock {

/// Gives out turns: as many as `burst` at once, then one each interval. A turn is taken when it comes, by who is first
/// in the queue then; who has left the queue takes none.
template <class T>
class TurnQueue {
 public:
  using Place = typename std::list<T>::iterator;

  TurnQueue(Clock::duration interval, int burst) noexcept : interval_{interval}, allowance_{interval * (burst - 1)} {}

  /// When a newcomer's turn comes if nobody ahead leaves.
  [[nodiscard]] Clock::time_point turn_of_newcomer(Clock::time_point now) const noexcept {
    return turn_behind(waiting_.size(), now);
  }
  Place enter(T waiter) { return waiting_.insert(waiting_.end(), std::move(waiter)); }
  void leave(Place place) { waiting_.erase(place); }
  /// Everybody leaves.
  [[nodiscard]] std::list<T> clear() noexcept { return std::exchange(waiting_, {}); }

  /// Whose turn it is now, and who has left the queue with it.
  [[nodiscard]] std::optional<T> take(Clock::time_point now) {
    if (waiting_.empty() || turn_behind(0, now) > now) return std::nullopt;
    taken_until_ = std::max(taken_until_, now) + interval_;
    std::optional<T> first{std::move(waiting_.front())};
    waiting_.pop_front();
    return first;
  }
  /// A turn that was taken has not been used.
  void give_back() noexcept { taken_until_ -= interval_; }

  /// When to take() again; nothing: nobody waits.
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
  Clock::time_point taken_until_{};  // at an even pace the turns so far last until then
  std::list<T> waiting_;
};

}  // namespace zklock
