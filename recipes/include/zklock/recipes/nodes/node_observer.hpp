// What a program can hear of the nodes that it keeps.
#pragma once

#include <zklock/recipes/nodes/node_state.hpp>

#include <cstdint>
#include <string_view>

namespace zklock {

/// A kept node has another state. The first event of each object that keeps one has the same state twice, `absent`; the
/// last one, which comes when the client's executor has carried the end out, has `ended`. Closing the object or the
/// client is no loss: it leads to `ended` alone. The views live for the call; paths are the server's.
struct NodeEvent {
  std::uint64_t number = 0;  ///< of the object that keeps the node; unique in the process
  std::string_view client_id{};
  std::string_view path{};       ///< as the object was given it
  std::string_view node_path{};  ///< of the node itself; empty as long as the server has not named it
  std::int64_t session_id = 0;   ///< the client's
  NodeState before{};
  NodeState state{};
};

/// Hears of the nodes that a client keeps: of each PersistentNode, PersistentTtlNode and GroupMember. A program's class
/// derives from it and from Observer, and is passed once, by ClientConfig::observers. The rules for calls are
/// Observer's.
///
/// Threads: the client's executor, one call at a time.
class NodeObserver {
 public:
  virtual ~NodeObserver() = default;
  virtual void on_node(const NodeEvent&) {}
};

}  // namespace zklock
