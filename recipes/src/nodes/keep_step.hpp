// What to do about the path of a node that is to be kept.
#pragma once

#include <zklock/recipes/nodes/node_conflict.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zklock {

/// The sessions on which a client may have created its node: the last ones, of which some may still be alive.
class OwnSessions {
 public:
  void add(std::int64_t session);
  [[nodiscard]] bool contain(std::int64_t session) const;

 private:
  std::vector<std::int64_t> ids_;
};

/// Whose a node is.
enum class NodeOwner {
  no_session,       ///< it is persistent, a container or a TTL node
  this_session,     ///< the client's current one
  earlier_session,  ///< one that the client had before, and that the servers have not ended yet
  foreign_session
};

/// Tells by Stat::ephemeral_owner, never by the node's data. The servers say 0 also for containers and TTL nodes
/// (DataNode.copyStat, 3.8.0).
[[nodiscard]] NodeOwner owner_of(std::int64_t ephemeral_owner, std::int64_t this_session, const OwnSessions& earlier);

/// What is known of the path.
struct PathSeen {
  bool exists = false;
  NodeOwner owner = NodeOwner::no_session;
  bool took_over = false;  ///< a foreign node was replaced on this session before
};

enum class KeepStep {
  create,
  keep,     ///< it is the client's own: watch it, and write the data if they differ
  replace,  ///< delete it and create another one, in one transaction
  wait,     ///< it is foreign: wait until it is deleted
  give_up
};

/// A node is replaced unasked only if an earlier session of this client has left it. A takeover is done once a session:
/// otherwise two clients would delete each other's nodes for ever.
[[nodiscard]] KeepStep next_step(bool wants_ephemeral, NodeConflict conflict, const PathSeen& seen);

}  // namespace zklock
