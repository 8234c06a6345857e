// How to create a node.
#pragma once

#include <zklock/acl.hpp>
#include <zklock/create_mode.hpp>

#include <chrono>
#include <optional>
#include <utility>

namespace zklock {

/// A node's mode, and what goes with it. Made from a CreateMode where nothing else is wanted.
struct NodeOptions {
  CreateMode mode = CreateMode::persistent;
  /// Only, and always, for the modes with a time to live: 1 ms to 2^40 ms.
  std::chrono::milliseconds ttl{0};
  /// Nothing: as ClientConfig::acl_provider says, else open to everybody.
  std::optional<Acl> acl;

  NodeOptions() = default;
  NodeOptions(CreateMode with_mode) : mode{with_mode} {}  // NOLINT(*-explicit-*): a mode is all that most nodes need
  NodeOptions(CreateMode with_mode, std::chrono::milliseconds with_ttl) : mode{with_mode}, ttl{with_ttl} {}
  NodeOptions(CreateMode with_mode, Acl with_acl) : mode{with_mode}, acl{std::move(with_acl)} {}
  NodeOptions(CreateMode with_mode, std::chrono::milliseconds with_ttl, Acl with_acl)
      : mode{with_mode}, ttl{with_ttl}, acl{std::move(with_acl)} {}
};

}  // namespace zklock
