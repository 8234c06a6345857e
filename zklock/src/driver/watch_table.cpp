#include "watch_table.hpp"

#include <algorithm>
#include <iterator>

namespace zklock {

bool WatchTable::has_room_for(WatchKind kind, const std::string& path) const {
  return bytes_ + size_of(path) <= max_bytes_ || ids_.contains(Place{kind, path});
}

WatchTable::Id WatchTable::begin(WatchKind kind, const std::string& path) {
  const auto [place, is_new] = ids_.try_emplace(Place{kind, path}, 0);
  if (is_new) {
    place->second = entries_.add(Entry{&place->first, 0, false, {}});
    bytes_ += size_of(path);
  }
  ++entries_.find(place->second)->reads;
  return place->second;
}

bool WatchTable::finish(Id id, bool is_set, Sink sink) {
  Entry* entry = entries_.find(id);
  if (!entry) return false;
  --entry->reads;
  if (is_set) entry->is_set = true;
  if (is_set && sink) {
    sink->entry_ = id;
    entry->sinks.push_back(std::move(sink));
  }
  return entry->reads == 0 && entry->sinks.empty();
}

std::optional<WatchTable::Id> WatchTable::forget(const WatchSink& sink) {
  const Id id = sink.entry_;
  Entry* entry = entries_.find(id);
  if (!entry || std::erase_if(entry->sinks, [&](const Sink& other) { return other.get() == &sink; }) == 0)
    return std::nullopt;
  if (entry->reads > 0 || !entry->sinks.empty()) return std::nullopt;
  return id;
}

std::vector<WatchTable::Sink> WatchTable::fire(const Place& place) {
  const auto found = ids_.find(place);
  if (found == ids_.end()) return {};
  const Id id = found->second;
  Entry& entry = *entries_.find(id);
  entry.is_set = false;
  std::vector<Sink> sinks = std::exchange(entry.sinks, {});
  if (entry.reads == 0) end(id);
  return sinks;
}

bool WatchTable::unused(Id id) {
  const Entry* entry = entries_.find(id);
  return entry && entry->reads == 0 && entry->sinks.empty();
}

std::optional<WatchTable::Place> WatchTable::end(Id id) {
  std::optional<Entry> entry = entries_.take(id);
  if (!entry) return std::nullopt;
  auto place = ids_.extract(*entry->place);
  bytes_ -= size_of(place.key().path);
  if (!entry->is_set) return std::nullopt;
  return std::move(place.key());
}

bool WatchTable::adopt(const Place& place) {
  const auto found = ids_.find(place);
  if (found == ids_.end()) return false;
  entries_.find(found->second)->is_set = true;
  return true;
}

std::vector<WatchTable::Sink> WatchTable::drain() {
  std::vector<Sink> all;
  for (const Id id : entries_.ids()) {
    std::optional<Entry> entry = entries_.take(id);
    std::move(entry->sinks.begin(), entry->sinks.end(), std::back_inserter(all));
  }
  ids_.clear();
  bytes_ = 0;
  return all;
}

}  // namespace zklock
