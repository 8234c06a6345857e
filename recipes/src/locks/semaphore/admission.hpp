// Who is let in by a semaphore: pure decisions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock {

enum class Admission {
  granted,  ///< the permits are ours
  full,     ///< wait until a child goes
  missing   ///< one of our nodes is not in the list
};

/// Whether our nodes are permits, by the children of the directory of leases. Each child counts, whoever made it.
[[nodiscard]] Admission admit(const std::vector<std::string>& children, const std::vector<std::string>& own,
                              std::int32_t permits);

/// As Curator's SharedCount writes it: four bytes, big-endian.
[[nodiscard]] std::string format_count(std::int32_t count);
/// Nothing if there are not four bytes.
[[nodiscard]] std::optional<std::int32_t> parse_count(std::string_view data) noexcept;

}  // namespace zklock
