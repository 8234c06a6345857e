#include "cache_merging.hpp"

#include "accept.hpp"

#include <optional>
#include <utility>

namespace zklock {

namespace {

using Type = CacheEvent::Type;

Type type_of(const ChildDataPtr& before, const ChildDataPtr& now) {
  if (!now) return Type::deleted;
  if (now->error) return Type::unreadable;
  return before ? Type::changed : Type::created;
}

std::optional<Stat> read_stat(const ChildDataPtr& node) {
  return node && !node->error ? std::optional{node->stat} : std::nullopt;
}

}  // namespace

CacheEvent change_of(std::string path, ChildDataPtr before, ChildDataPtr now) {
  CacheEvent event{type_of(before, now), std::move(path)};
  const bool can_count = read_stat(now) && (!before || read_stat(before));
  if (can_count) event.skipped = accept(read_stat(before), read_stat(now)).skipped;
  event.before = std::move(before);
  event.now = std::move(now);
  return event;
}

Merging<CacheEvent>::Key Merging<CacheEvent>::key(const CacheEvent& event) {
  switch (event.type) {
    case Type::initialized: return "initialized";
    case Type::live:
    case Type::stale: return "freshness";
    case Type::reset: return "reset";
    case Type::created:
    case Type::changed:
    case Type::deleted:
    case Type::unreadable: break;
  }
  return event.path;  // begins with '/'
}

MergedPlace Merging<CacheEvent>::merge(CacheEvent& first, CacheEvent&& second) {
  if (second.path.empty()) {
    first = std::move(second);
    return MergedPlace::last;
  }
  if (!first.before && !second.now) return MergedPlace::nowhere;
  first = change_of(std::move(second.path), std::move(first.before), std::move(second.now));
  return first.now ? MergedPlace::first : MergedPlace::last;
}

}  // namespace zklock
