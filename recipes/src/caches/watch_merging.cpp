#include "watch_merging.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace zklock {

namespace {

using Kind = DataChange::Kind;

/// What the two are to a reader who knows neither.
Kind merged(Kind first, Kind second) {
  switch (first) {
    case Kind::initial: return Kind::initial;
    case Kind::created: return second == Kind::unreadable ? second : Kind::created;
    case Kind::recreated: return second == Kind::changed ? first : second;
    case Kind::deleted: return second == Kind::created ? Kind::recreated : second;
    case Kind::changed:
    case Kind::unreadable: break;
  }
  return second;
}

using Names = std::vector<std::string>;

Names both(const Names& left, const Names& right) {
  Names common;
  std::ranges::set_intersection(left, right, std::back_inserter(common));
  return common;
}
Names either(const Names& left, const Names& right) {
  Names all;
  std::ranges::set_union(left, right, std::back_inserter(all));
  return all;
}
Names without(const Names& all, const Names& some) {
  Names rest;
  std::ranges::set_difference(all, some, std::back_inserter(rest));
  return rest;
}

}  // namespace

/// A version that was read and not shown is skipped, too; also if the node has become unreadable since.
MergedPlace Merging<DataChange>::merge(DataChange& first, DataChange&& second) {
  if (first.kind == Kind::created && second.kind == Kind::deleted) return MergedPlace::nowhere;
  const bool is_same_node = second.kind == Kind::changed || second.kind == Kind::unreadable;
  if (is_same_node) second.skipped += first.skipped + (first.node ? 1 : 0);
  if (first.kind == Kind::initial) second.skipped = 0;
  second.kind = merged(first.kind, second.kind);
  first = std::move(second);
  return MergedPlace::first;
}

MergedPlace Merging<ChildrenChange>::merge(ChildrenChange& first, ChildrenChange&& second) {
  const Names came_and_went = both(first.added, second.removed);
  second.unseen += first.unseen + static_cast<std::int64_t>(came_and_went.size());
  second.removed = either(first.removed, without(second.removed, came_and_went));
  second.added = either(without(first.added, came_and_went), second.added);
  first = std::move(second);
  return MergedPlace::first;
}

}  // namespace zklock
