// A node that stays for some time after the object that keeps it is gone.
#pragma once

#include <zklock/recipes/nodes/persistent_node.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace zklock {

struct PersistentTtlNodeOptions {
  /// The name of the child that is touched.
  std::string touch = "touch";
  NodeConflict conflict = NodeConflict::wait;
  CreateOptions::Parents parents = CreateOptions::Parents::containers;
  /// Empty: the ACL of ClientConfig::acl_provider, or else one that is open to everybody.
  std::optional<Acl> acl{};
};

/// Keeps a node that belongs to no session, and that the servers delete some time after nothing keeps it any more: a
/// child of it is written every half of its time to live, so that the node itself does not change and its watches are
/// quiet. A lost session makes no gap. Closing the object leaves the node to its time. Curator's PersistentTtlNode.
///
/// Nodes with a time to live need servers with zookeeper.extendedTypesEnabled=true; at others the object gives up, with
/// Error::unimplemented. When nothing keeps the node, the child goes within about its time to live, and the node after
/// another one.
///
/// Threads: any thread may call anything but the destructor and the assignment.
class PersistentTtlNode : public detail::KeptNode {
 public:
  /// Begins to create the node. Throws boost::system::system_error: Error::invalid_path, Error::invalid_timeout (a time
  /// to live that is not from 2 ms to 2^40 ms).
  PersistentTtlNode(const ClientHandle& client, std::string path, std::chrono::milliseconds ttl, std::string data,
                    PersistentTtlNodeOptions options = {});
  /// A temporary Client would be closed at once.
  template <class... Rest>
  PersistentTtlNode(Client&&, Rest&&...) = delete;
};

}  // namespace zklock
