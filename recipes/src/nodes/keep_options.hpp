// What is to be kept at a path.
#pragma once

#include <zklock/acl.hpp>
#include <zklock/client_options.hpp>
#include <zklock/node_options.hpp>
#include <zklock/recipes/nodes/node_conflict.hpp>

#include <string>

namespace zklock::detail {

/// What happens to the node at the end.
enum class AtClose { remove, leave };

struct KeepOptions {
  NodeOptions node;
  bool is_protected = false;
  NodeConflict conflict = NodeConflict::wait;
  CreateOptions::Parents parents = CreateOptions::Parents::containers;
  AtClose at_close = AtClose::remove;
  std::string touch{};  ///< the name of the child that is written while a TTL node is kept
};

/// How the node is created again under the name that it has.
[[nodiscard]] constexpr CreateMode unnumbered(CreateMode mode) noexcept {
  switch (mode) {
    case CreateMode::ephemeral_sequential: return CreateMode::ephemeral;
    case CreateMode::persistent_sequential: return CreateMode::persistent;
    case CreateMode::persistent_sequential_ttl: return CreateMode::persistent_ttl;
    case CreateMode::persistent:
    case CreateMode::ephemeral:
    case CreateMode::container:
    case CreateMode::persistent_ttl: break;
  }
  return mode;
}

}  // namespace zklock::detail
