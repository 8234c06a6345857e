// What the names below a lock's path say.
#pragma once

#include <zklock/recipes/lock_kind.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace zklock {

/// What stands between a name's protection and its sequence number: "lock-", "__READ__" and so on. Permits have
/// Curator's.
[[nodiscard]] std::string_view marker_of(LockKind kind, LockNaming naming = LockNaming::curator) noexcept;

/// A place in line, as the name of its node tells it: "_c_<uuid>-lock-0000000042" is number 42 among the mutexes.
struct LockNode {
  LockKind kind = LockKind::mutex;
  std::int32_t sequence = 0;

  friend bool operator==(LockNode, LockNode) = default;
};

/// Nothing for a name that under Curator's names stands in no lock's line: it does not end in the marker of a kind and
/// a number as the server writes it ("%010d").
[[nodiscard]] std::optional<LockNode> parse_lock_node(std::string_view name) noexcept;

/// Curator's marker that comes last in the name, whatever stands around it. What has one, and is nothing for
/// parse_lock_node, may be another program's idea of a lock.
[[nodiscard]] std::optional<LockKind> find_lock_marker(std::string_view name) noexcept;

/// Of two nodes of one lock: `behind` waits as long as `ahead` is there. Readers do not keep readers out; nor does
/// anybody keep out whoever stands beside it with the same number, as a writer's own reader does.
[[nodiscard]] bool keeps_out(LockNode ahead, LockNode behind) noexcept;

/// Beyond this number names do not order contenders any more: the server's counter wraps, then sticks (docs/faults.md
/// 25, 26). An acquire that gets such a number fails with Error::sequence_exhausted.
inline constexpr std::int32_t last_safe_sequence = INT32_MAX - 1'000'000;

}  // namespace zklock
