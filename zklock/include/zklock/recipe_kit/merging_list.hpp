// A queue whose entries merge, key by key.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <utility>

namespace zklock {

/// Where two merged events stand among the others.
enum class MergedPlace {
  first,   ///< where the first one stood
  last,    ///< behind all others
  nowhere  ///< they add up to nothing
};

/// How the events of a type merge. A specialisation has
///
///   using Key = ...;
///   static Key key(const Event& event);
///   static MergedPlace merge(Event& first, Event&& second);   // makes `first` stand for both
template <class Event>
struct Merging;

/// Threads: one at a time.
template <class Event>
class MergingList {
 public:
  void push(Event event) {
    auto key = Merging<Event>::key(event);
    const auto found = places_.find(key);
    if (found == places_.end()) {
      places_.emplace(std::move(key), events_.insert(events_.end(), std::move(event)));
      return;
    }
    switch (Merging<Event>::merge(*found->second, std::move(event))) {
      case MergedPlace::first: break;
      case MergedPlace::last: events_.splice(events_.end(), events_, found->second); break;
      case MergedPlace::nowhere:
        events_.erase(found->second);
        places_.erase(found);
        break;
    }
  }

  [[nodiscard]] Event pop() {
    places_.erase(Merging<Event>::key(events_.front()));
    Event event = std::move(events_.front());
    events_.pop_front();
    return event;
  }

  void clear() {
    events_.clear();
    places_.clear();
  }
  [[nodiscard]] bool empty() const noexcept { return events_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return events_.size(); }

 private:
  std::list<Event> events_;
  std::map<typename Merging<Event>::Key, typename std::list<Event>::iterator> places_;
};

}  // namespace zklock
