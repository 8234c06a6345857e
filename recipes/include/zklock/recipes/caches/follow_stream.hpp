// A stream of events of something that is followed.
#pragma once

#include <zklock/detail/existing.hpp>
#include <zklock/event_stream.hpp>
#include <zklock/recipes/caches/freshness.hpp>

#include <memory>
#include <utility>

namespace zklock {

/// An EventStream that knows how current it is. It owns what follows: when it is destroyed, the watches are given up.
///
/// Threads: freshness, any; the rest one at a time, any.
template <class Event>
class FollowStream : public EventStream<Event> {
 public:
  FollowStream(std::shared_ptr<detail::EventSource<Event>> events,
               std::shared_ptr<const detail::FreshnessSource> followed) noexcept
      : EventStream<Event>{std::move(events)}, followed_{std::move(followed)} {}

  /// While it is `live`, the last event shows what the servers have. Asks no server.
  [[nodiscard]] Freshness freshness() const { return detail::existing(followed_).freshness(); }

 private:
  std::shared_ptr<const detail::FreshnessSource> followed_;
};

}  // namespace zklock
