// Streams of what becomes of one node: of its data, or of its list of children.
#pragma once

#include <zklock/recipes/caches/follow_stream.hpp>
#include <zklock/results.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zklock {

/// What has become of a node and its data.
struct DataChange {
  enum class Kind {
    initial,    ///< the first item: the node as it is, or that there is none
    created,    ///< there was none before
    changed,    ///< other data
    recreated,  ///< the node was deleted and created again: another czxid, and its version began at 0
    deleted,
    unreadable  ///< it cannot be read: `error` says why, mostly no_auth
  };

  Kind kind = Kind::initial;
  std::optional<DataResult> node{};  ///< empty: there is no node, or it cannot be read
  /// Versions of this node that this stream does not show, since the last item or since the node was created. (What was
  /// there before the first item does not count.)
  std::int64_t skipped = 0;
  error_code error{};
};

/// What has become of a node's list of children.
struct ChildrenChange {
  std::vector<std::string> names{};    ///< all that are there now, sorted
  std::vector<std::string> added{};    ///< since the last item, sorted; in the first item, all
  std::vector<std::string> removed{};  ///< the same; a name that is in both has become another node
  /// Children that came and went since the last item, or went and came again, and that no item shows.
  std::int64_t unseen = 0;
  std::optional<Stat> stat{};  ///< the parent's; empty: there is no parent, or it cannot be read
  error_code error{};          ///< why it cannot be read, mostly no_auth
};

using DataWatch = FollowStream<DataChange>;
using ChildrenWatch = FollowStream<ChildrenChange>;

namespace detail {

struct FollowedData {
  std::shared_ptr<EventSource<DataChange>> events;
  std::shared_ptr<const FreshnessSource> followed;
};
/// What a DataWatch is made of.
[[nodiscard]] FollowedData follow_data(const ClientHandle& client, std::string path);

}  // namespace detail

/// Follows a node's data: Kazoo's DataWatch. The first item is the state of now, each later one a change; the states in
/// between that nobody saw are counted (`skipped`). It goes on over lost links and sessions, and over the node's
/// deletion, and ends with the client only (Error::closing, or Error::auth_failed). The watch is given up when the
/// stream is destroyed. What a slow reader has not read is merged into one item.
///
/// Throws boost::system::system_error: Error::invalid_path.
[[nodiscard]] DataWatch watch_data(const ClientHandle& client, std::string path);

/// The same of a node's list of children: Kazoo's ChildrenWatch. The names there and their changes add up: the names
/// of the last item, without `removed`, with `added`, are the names of this one.
[[nodiscard]] ChildrenWatch watch_children(const ClientHandle& client, std::string path);

}  // namespace zklock
