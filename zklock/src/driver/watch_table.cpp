#include "watch_table.hpp"

#include <algorithm>
#include <utility>

namespace zklock {

namespace {

constexpr std::size_t index_of(WatchKind kind) noexcept { return static_cast<std::size_t>(kind); }

}  // namespace

bool WatchTable::Entry::is_unused(WatchKind kind) const {
  const Watched& each = watched[index_of(kind)];
  const auto waits = [kind](const Waiter& waiter) { return waiter.waits[index_of(kind)]; };
  return each.is_there && each.reads == 0 && std::ranges::none_of(waiters, waits);
}

WatchTable::Entry* WatchTable::find(const WatchPlace& place) {
  const auto entry = entries_.find(place.path);
  return entry != entries_.end() && entry->second.watched[index_of(place.kind)].is_there ? &entry->second : nullptr;
}

bool WatchTable::has_room_for(const WatchPlace& place) {
  return bytes_ + size_of(place.path) <= max_bytes_ || find(place);
}

WatchTable::Read WatchTable::begin(WatchPlace place) {
  Entries::value_type& entry = *entries_.try_emplace(std::move(place.path)).first;
  Watched& watched = entry.second.watched[index_of(place.kind)];
  if (!std::exchange(watched.is_there, true)) {
    ++size_;
    bytes_ += size_of(entry.first);
  }
  ++watched.reads;
  return {entry, place.kind};
}

bool WatchTable::finish(const Read& read, bool is_set, Sink sink) {
  Entry& entry = read.entry_->second;
  Watched& watched = entry.watched[index_of(read.kind_)];
  --watched.reads;
  if (is_set) watched.is_set = true;
  if (is_set && sink) {
    auto waiter = std::ranges::find(entry.waiters, sink, &Waiter::sink);
    if (waiter == entry.waiters.end()) waiter = entry.waiters.insert(waiter, Waiter{std::move(sink)});
    waiter->waits[index_of(read.kind_)] = true;
  }
  return entry.is_unused(read.kind_);
}

void WatchTable::forget(const WatchSink& sink, const WatchPlace& place) {
  Entry* entry = find(place);
  if (!entry) return;
  const auto waiter = std::ranges::find(entry->waiters, &sink, [](const Waiter& each) { return each.sink.get(); });
  if (waiter == entry->waiters.end()) return;
  waiter->waits[index_of(place.kind)] = false;
  if (waiter->is_done()) entry->waiters.erase(waiter);
}

std::vector<WatchTable::Sink> WatchTable::fire(const WatchPlace& place) {
  Entry* entry = find(place);
  if (!entry) return {};
  entry->watched[index_of(place.kind)].is_set = false;
  std::vector<Sink> sinks;
  for (Waiter& each : entry->waiters)
    if (std::exchange(each.waits[index_of(place.kind)], false)) sinks.push_back(each.sink);
  auto& waiters = entry->waiters;
  waiters.erase(std::remove_if(waiters.begin(), waiters.end(), std::mem_fn(&Waiter::is_done)), waiters.end());
  static_cast<void>(end(place));
  return sinks;
}

bool WatchTable::end(const WatchPlace& place) {
  const auto found = entries_.find(place.path);
  if (found == entries_.end() || !found->second.is_unused(place.kind)) return false;
  auto& watched = found->second.watched;
  const bool was_set = std::exchange(watched[index_of(place.kind)], {}).is_set;
  --size_;
  bytes_ -= size_of(place.path);
  if (std::ranges::none_of(watched, &Watched::is_there)) entries_.erase(found);
  return was_set;
}

bool WatchTable::adopt(const WatchPlace& place) {
  Entry* entry = find(place);
  if (entry) entry->watched[index_of(place.kind)].is_set = true;
  return entry;
}

std::vector<WatchTable::Sink> WatchTable::drain() {
  std::vector<Sink> all;
  for (auto& [path, entry] : std::exchange(entries_, {}))
    for (const Waiter& each : entry.waiters)
      for (const bool waits : each.waits)
        if (waits) all.push_back(each.sink);
  size_ = bytes_ = 0;
  return all;
}

}  // namespace zklock
