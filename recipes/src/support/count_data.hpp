// The data of a shared count.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zklock {

/// Formats the count as Curator's SharedCount does: four bytes, big-endian.
[[nodiscard]] std::string format_count(std::int32_t count);
/// std::nullopt if there are not four bytes.
[[nodiscard]] std::optional<std::int32_t> parse_count(std::string_view data) noexcept;

}  // namespace zklock
