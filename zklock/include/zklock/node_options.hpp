// How to create a node.
#pragma once

#include <zklock/acl.hpp>
#include <zklock/create_mode.hpp>

#include <chrono>
#include <optional>
#include <utility>

namespace zklock {

/// A node's mode and its further options. A CreateMode converts to it.
struct NodeOptions {
  CreateMode mode = CreateMode::persistent;
  /// Required for the modes with a time to live, not allowed for others: 1 ms to 2^40 ms.
  std::chrono::milliseconds ttl{0};
  /// Empty: the ACL of ClientConfig::acl_provider, or else one that is open to everybody.
  std::optional<Acl> acl;

  NodeOptions() = default;
  NodeOptions(CreateMode with_mode) : mode{with_mode} {}  // NOLINT(*-explicit-*): a mode is all that most nodes need
  NodeOptions(CreateMode with_mode, std::chrono::milliseconds with_ttl) : mode{with_mode}, ttl{with_ttl} {}
  NodeOptions(CreateMode with_mode, Acl with_acl) : mode{with_mode}, acl{std::move(with_acl)} {}
  NodeOptions(CreateMode with_mode, std::chrono::milliseconds with_ttl, Acl with_acl)
      : mode{with_mode}, ttl{with_ttl}, acl{std::move(with_acl)} {}
};

}  // namespace zklock
