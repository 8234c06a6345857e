// Who is first in line: pure decisions on the names of a lock's children.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock {

/// The marker of Curator's mutex, between the protection and the sequence number.
inline constexpr std::string_view mutex_marker = "lock-";

/// The number that the server appended, if `name` ends in the marker and a number as the server writes it: "%010d",
/// which is negative once the counter has overflowed.
[[nodiscard]] std::optional<std::int32_t> parse_sequence(std::string_view name, std::string_view marker) noexcept;

/// Beyond this number names do not order contenders any more: the server's counter wraps, then sticks (docs/faults.md
/// 25, 26).
inline constexpr std::int32_t last_safe_sequence = INT32_MAX - 1'000'000;

struct Contention {
  enum class Verdict {
    first,   ///< the lock is ours
    behind,  ///< wait for `predecessor` to go
    missing  ///< our node is not in the list
  };
  Verdict verdict = Verdict::missing;
  std::string predecessor{};
};

/// Where `own_name` stands among `children`. Names that are no contenders' are passed over.
[[nodiscard]] Contention contend(const std::vector<std::string>& children, std::string_view own_name,
                                 std::string_view marker);

/// The contenders among `children`, first in line first.
[[nodiscard]] std::vector<std::string> line_up(const std::vector<std::string>& children, std::string_view marker);

}  // namespace zklock
