// Log lines of the C client.
#pragma once

#include <string_view>

namespace zklock {

/// Removes the time and the process from the front; the caller's logger adds them itself. "2026-11-22
/// 15:20:34,123:4711:ZOO_WARN@function@line: what" then begins with its level.
[[nodiscard]] constexpr std::string_view without_stamp(std::string_view line) noexcept {
  const bool has_stamp = !line.empty() && line.front() >= '0' && line.front() <= '9';
  const auto end = has_stamp ? line.find(":ZOO_") : std::string_view::npos;
  return end == std::string_view::npos ? line : line.substr(end + 1);
}

}  // namespace zklock
