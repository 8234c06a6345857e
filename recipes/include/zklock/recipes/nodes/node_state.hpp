// The state of a node that is kept, and a stream of its changes.
#pragma once

#include <zklock/event_stream.hpp>

#include <cstdint>
#include <string_view>

namespace zklock {

enum class NodePhase {
  absent,   ///< not there: not created yet, or deleted; it is being created
  present,  ///< there, and watched; an ephemeral node is the current session's
  suspect,  ///< the link is lost: the servers may have ended the session, and the node with it
  taken,    ///< another client has a node at the path
  failing,  ///< the servers refuse what is needed, or others delete the node again and again (no_node); it is tried
            ///< again, more and more slowly
  ended     ///< nothing is kept any more: closed, or given up
};

[[nodiscard]] std::string_view to_string(NodePhase phase) noexcept;

struct NodeState {
  NodePhase phase = NodePhase::absent;
  std::int64_t czxid = 0;  ///< present, suspect: which node it is; each new one has a greater number
  std::int64_t owner = 0;  ///< taken: the session that owns the other node; 0: a node that no session owns
  error_code error{};      ///< failing; ended: why it gave up, success if it was closed

  friend bool operator==(const NodeState&, const NodeState&) = default;
};

/// A stream of a node's states, in their order, read at the subscriber's own pace. The first one is the state at the
/// time of the subscription. A subscriber that is 16 states behind misses the oldest of them, never the last. The
/// stream ends (Error::closing) after NodePhase::ended.
using NodeStateStream = EventStream<NodeState>;

}  // namespace zklock
