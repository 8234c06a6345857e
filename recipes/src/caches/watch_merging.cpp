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

void UnreadData::push(DataChange change) {
  if (hidden_ && change.kind != Kind::unreadable) {
    if (change.kind == Kind::changed && change.node && change.node->stat.mzxid != *hidden_) ++change.skipped;
    hidden_.reset();
  }
  if (unread_)
    merge(std::move(change));
  else
    unread_ = std::move(change);
}

/// A version that was read and not shown is skipped, too; what was there before the first item is not.
void UnreadData::merge(DataChange&& second) {
  const DataChange& first = *unread_;
  if (first.kind == Kind::created && second.kind == Kind::deleted) return unread_.reset();
  const bool is_same_node = second.kind == Kind::changed || second.kind == Kind::unreadable;
  const bool was_not_shown = first.node && first.node->stat.mzxid != shown_;
  if (is_same_node) second.skipped += first.skipped;
  if (first.kind == Kind::initial) {
    second.skipped = 0;
  } else if (was_not_shown && second.kind == Kind::changed) {
    ++second.skipped;
  } else if (was_not_shown && second.kind == Kind::unreadable) {
    hidden_ = first.node->stat.mzxid;
  }
  second.kind = merged(first.kind, second.kind);
  unread_ = std::move(second);
}

DataChange UnreadData::pop() {
  DataChange change = std::move(*unread_);
  unread_.reset();
  if (change.node) shown_ = change.node->stat.mzxid;
  return change;
}

void UnreadData::clear() {
  unread_.reset();
  hidden_.reset();
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
