// How the changes that a slow reader of a watch has not read are merged.
#pragma once

#include <zklock/recipe_kit/merging_list.hpp>
#include <zklock/recipes/caches/watching.hpp>

#include <cstdint>
#include <optional>
#include <variant>

namespace zklock {

/// What a reader of a node's data has not read: one change at most. For EventQueue.
class UnreadData {
 public:
  void push(DataChange change);
  [[nodiscard]] DataChange pop();
  void clear();
  [[nodiscard]] bool empty() const noexcept { return !unread_; }

 private:
  void merge(DataChange&& second);

  std::optional<DataChange> unread_;
  /// The mzxid of a version that was read and not shown, because the node has become unreadable since. It is shown when
  /// it can be read again, or is skipped when another one is.
  std::optional<std::int64_t> hidden_;
  std::int64_t shown_ = 0;  // the mzxid of the last version that was shown
};

/// There is one key: at most one change is unread.
template <>
struct Merging<ChildrenChange> {
  using Key = std::monostate;
  static Key key(const ChildrenChange&) { return {}; }
  static MergedPlace merge(ChildrenChange& first, ChildrenChange&& second);
};

}  // namespace zklock
