// A queue that keeps the newest entries.
#pragma once

#include <cstddef>
#include <deque>
#include <utility>

namespace zklock {

/// Threads: one at a time.
template <class Event, std::size_t most>
class BoundedList {
 public:
  /// The oldest entry goes if there are too many.
  void push(Event event) {
    if (events_.size() == most) events_.pop_front();
    events_.push_back(std::move(event));
  }
  [[nodiscard]] Event pop() {
    Event event = std::move(events_.front());
    events_.pop_front();
    return event;
  }
  void clear() { events_.clear(); }
  [[nodiscard]] bool empty() const noexcept { return events_.empty(); }

 private:
  std::deque<Event> events_;
};

}  // namespace zklock
