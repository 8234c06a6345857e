// How the changes that a slow reader of a watch has not read are merged.
#pragma once

#include <zklock/recipe_kit/merging_list.hpp>
#include <zklock/recipes/caches/watching.hpp>

#include <variant>

namespace zklock {

/// There is one key: at most one change is unread.
template <>
struct Merging<DataChange> {
  using Key = std::monostate;
  static Key key(const DataChange&) { return {}; }
  static MergedPlace merge(DataChange& first, DataChange&& second);
};

template <>
struct Merging<ChildrenChange> {
  using Key = std::monostate;
  static Key key(const ChildrenChange&) { return {}; }
  static MergedPlace merge(ChildrenChange& first, ChildrenChange&& second);
};

}  // namespace zklock
