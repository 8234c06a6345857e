// Who is first in line: pure decisions on the names of a lock's children.
#pragma once

#include <zklock/recipes/lock_kind.hpp>
#include <zklock/recipes/lock_node.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock {

/// The number that the server appended, if `name` ends in the marker and a number as the server writes it: "%010d",
/// which is negative once the counter has overflowed.
[[nodiscard]] std::optional<std::int32_t> parse_sequence(std::string_view name, std::string_view marker) noexcept;

/// As the server writes it.
[[nodiscard]] std::string format_sequence(std::int32_t sequence);

struct Contention {
  enum class Verdict {
    first,   ///< the lock is ours
    behind,  ///< wait for `predecessor` to go
    missing  ///< our node is not in the list
  };
  Verdict verdict = Verdict::missing;
  std::string predecessor{};
  std::int32_t predecessors_number = 0;
  /// Nobody else keeps us out, or can come to do so: when the predecessor is gone the lock is ours, and no other list
  /// is needed to know that. Newcomers get greater numbers. (A writer may leave a reader of its owner's behind, with
  /// its own number, which keeps the next writer out.)
  bool is_last_obstacle = false;
  /// A node there of the other kind, a mutex's beside readers and writers or the other way about, to which nobody here
  /// pays any heed; empty: none. Under Curator's names.
  std::string of_other_kind{};
};

/// Where `own_name`, which is of that kind, stands among `children`: whom it waits for is the nearest one ahead, for a
/// reader the nearest writer. Names that are not in the same line are passed over.
[[nodiscard]] Contention contend(const std::vector<std::string>& children, std::string_view own_name, LockKind kind,
                                 LockNaming naming = LockNaming::curator);

struct InLine {
  std::string name;
  LockKind kind;
  std::int32_t sequence;
};

/// Those among `children` who stand in the line that `kind` stands in, first in line first.
[[nodiscard]] std::vector<InLine> line_up(const std::vector<std::string>& children, LockKind kind,
                                          LockNaming naming = LockNaming::curator);

}  // namespace zklock
