// How long a node exists, and whether the server numbers it.
#pragma once

namespace zklock {

/// The modes of ZooKeeper and Curator, with the C client's numbers.
enum class CreateMode : int {
  persistent = 0,
  ephemeral = 1,              ///< deleted when the session that created it ends; has no children
  persistent_sequential = 2,  ///< the server appends ten digits that count the parent's changes
  ephemeral_sequential = 3,
  container = 4,  ///< the server deletes it some time after its last child is gone
  persistent_ttl =
      5,  ///< deleted after its time to live without a child or a change; the server must enable extended types
  persistent_sequential_ttl = 6
};

[[nodiscard]] constexpr bool is_ephemeral(CreateMode mode) noexcept {
  return mode == CreateMode::ephemeral || mode == CreateMode::ephemeral_sequential;
}

[[nodiscard]] constexpr bool is_sequential(CreateMode mode) noexcept {
  return mode == CreateMode::persistent_sequential || mode == CreateMode::ephemeral_sequential ||
         mode == CreateMode::persistent_sequential_ttl;
}

[[nodiscard]] constexpr bool has_ttl(CreateMode mode) noexcept {
  return mode == CreateMode::persistent_ttl || mode == CreateMode::persistent_sequential_ttl;
}

}  // namespace zklock
