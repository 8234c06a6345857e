#include "watch_waiters.hpp"

#include <utility>

namespace zklock {

void WatchWaiters::add(Sink sink, WatchKind kind) {
  if (!crowd_ && (!only_.sink || only_.sink == sink)) {
    only_.sink = std::move(sink);
    only_.waits[index_of(kind)] = true;
    return;
  }
  if (!crowd_) {
    crowd_ = std::make_unique<Crowd>();
    for (std::size_t i = 0; i < only_.waits.size(); ++i) crowd_->waiting[i] = only_.waits[i];
    crowded(only_.sink).waits = only_.waits;
    only_ = {};
  }
  if (!std::exchange(crowded(std::move(sink)).waits[index_of(kind)], true)) ++crowd_->waiting[index_of(kind)];
}

/// The sink's place in the crowd: the last one if it had none.
WatchWaiters::Waiter& WatchWaiters::crowded(Sink sink) {
  const auto [found, is_new] = crowd_->places.try_emplace(sink.get(), crowd_->all.end());
  if (is_new) found->second = crowd_->all.insert(crowd_->all.end(), Waiter{.sink = std::move(sink)});
  return *found->second;
}

void WatchWaiters::remove(const WatchSink& sink, WatchKind kind) {
  if (!crowd_) {
    if (only_.sink.get() != &sink) return;
    only_.waits[index_of(kind)] = false;
    if (only_.is_done()) only_ = {};
    return;
  }
  const auto found = crowd_->places.find(&sink);
  if (found == crowd_->places.end()) return;
  Waiter& waiter = *found->second;
  if (std::exchange(waiter.waits[index_of(kind)], false)) --crowd_->waiting[index_of(kind)];
  if (!waiter.is_done()) return;
  crowd_->all.erase(found->second);
  crowd_->places.erase(found);
}

bool WatchWaiters::has_any(WatchKind kind) const {
  return crowd_ ? crowd_->waiting[index_of(kind)] > 0 : only_.waits[index_of(kind)];
}

std::vector<WatchWaiters::Sink> WatchWaiters::take(WatchKind kind) {
  std::vector<Sink> taken;
  if (!crowd_) {
    if (!std::exchange(only_.waits[index_of(kind)], false)) return taken;
    taken.push_back(only_.sink);
    if (only_.is_done()) only_ = {};
    return taken;
  }
  for (const Waiter& each : crowd_->all)
    if (each.waits[index_of(kind)]) taken.push_back(each.sink);
  for (const Sink& each : taken) remove(*each, kind);
  return taken;
}

}  // namespace zklock
