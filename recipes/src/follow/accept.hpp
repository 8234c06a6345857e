// What a reply says beside what was known before: a pure function for data and one for children.
#pragma once

#include <zklock/stat.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zklock {

/// What has become of a node.
enum class Change {
  same,
  created,          ///< there was none
  changed,          ///< the same node with other data
  new_incarnation,  ///< the node was deleted and created again
  gone
};

struct Accepted {
  Change change = Change::same;
  /// Versions of the data that lie between the two, and that no reply has shown.
  std::int64_t skipped = 0;
  /// The reply is older than what was known. A session's reads never go back: the servers have lost what they had.
  bool went_back = false;

  friend bool operator==(const Accepted&, const Accepted&) = default;
};

/// Compares by czxid and mzxid: versions begin at 0 again with each incarnation [CURATOR-391].
[[nodiscard]] Accepted accept(const std::optional<Stat>& before, const std::optional<Stat>& now);

/// The names of a node's children, sorted, and its Stat.
struct Listing {
  std::vector<std::string> names;
  Stat stat;
};

struct ListChange {
  std::vector<std::string> added{};
  std::vector<std::string> removed{};
  /// Children that came and went, or went and came again, between the two.
  std::int64_t unseen = 0;
  Accepted node{};  ///< what has become of the parent; never `changed`, which is about data

  friend bool operator==(const ListChange&, const ListChange&) = default;
};

/// In a new incarnation all children are others, also those with an old name: they are removed and added. What nobody
/// saw is counted by cversion, which grows with each creation and each deletion of a child (DataNode.copyStat).
[[nodiscard]] ListChange accept(const std::optional<Listing>& before, const std::optional<Listing>& now);

}  // namespace zklock
