// How the events that a slow reader of a cache has not read are merged.
#pragma once

#include <zklock/recipe_kit/merging_list.hpp>
#include <zklock/recipes/caches/cache_event.hpp>

#include <string>

namespace zklock {

/// Nodes merge by path. Freshness is one key, whose last event counts.
template <>
struct Merging<CacheEvent> {
  using Key = std::string;
  static Key key(const CacheEvent& event);
  /// A deletion goes to the end: behind those of the node's children, which have just been pushed.
  static MergedPlace merge(CacheEvent& first, CacheEvent&& second);
};

/// The event of a node that was `before` and is `now`: either may be null, for none.
[[nodiscard]] CacheEvent change_of(std::string path, ChildDataPtr before, ChildDataPtr now);

}  // namespace zklock
