// What the names of the nodes below a lock's path mean.
#pragma once

#include <zklock/recipes/locks/lock_kind.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace zklock {

/// The part of a name between its protection prefix and its sequence number: "lock-", "__READ__" and so on. Permits
/// and latches have Curator's.
[[nodiscard]] std::string_view marker_of(LockKind kind, LockNaming naming = LockNaming::curator) noexcept;

/// A queue position, as the name of its node gives it: "_c_<uuid>-lock-0000000042" is number 42 among the mutexes.
struct LockNode {
  LockKind kind = LockKind::mutex;
  std::int32_t sequence = 0;

  friend bool operator==(LockNode, LockNode) = default;
};

/// std::nullopt for a name that belongs to no lock under Curator's names: it does not end in the marker of a kind and a
/// number as the server writes it ("%010d"). A latch is no lock.
[[nodiscard]] std::optional<LockNode> parse_lock_node(std::string_view name) noexcept;

/// The last of Curator's markers in the name, whatever surrounds it. A name that has a marker, but is std::nullopt for
/// parse_lock_node, may be another program's node for a lock.
[[nodiscard]] std::optional<LockKind> find_lock_marker(std::string_view name) noexcept;

/// Of two nodes of one lock: `behind` waits as long as `ahead` exists. Readers do not block readers. Nodes with the
/// same number, such as a writer and its own reader, do not block each other.
[[nodiscard]] bool blocks(LockNode ahead, LockNode behind) noexcept;

/// Beyond this number, names do not order contenders any more: the server's counter wraps, then sticks [F25, F26]. An
/// acquire that gets such a number fails with LockError::sequence_exhausted.
inline constexpr std::int32_t last_safe_sequence = INT32_MAX - 1'000'000;

}  // namespace zklock
