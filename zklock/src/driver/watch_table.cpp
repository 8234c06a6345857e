#include "watch_table.hpp"

#include <algorithm>
#include <utility>

namespace zklock {

bool WatchTable::Entry::is_unused(WatchKind kind) const {
  const Watched& each = watched[index_of(kind)];
  return each.is_there && each.reads == 0 && !waiters.has_any(kind);
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
  if (is_set && sink) entry.waiters.add(std::move(sink), read.kind_);
  return entry.is_unused(read.kind_);
}

void WatchTable::forget(const WatchSink& sink, const WatchPlace& place) {
  if (Entry* entry = find(place)) entry->waiters.remove(sink, place.kind);
}

std::vector<WatchTable::Sink> WatchTable::fire(const WatchPlace& place) {
  Entry* entry = find(place);
  if (!entry) return {};
  entry->watched[index_of(place.kind)].is_set = false;
  std::vector<Sink> sinks = entry->waiters.take(place.kind);
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
    for (const WatchKind kind : {WatchKind::data, WatchKind::children})
      for (Sink& sink : entry.waiters.take(kind)) all.push_back(std::move(sink));
  size_ = bytes_ = 0;
  return all;
}

}  // namespace zklock
