// The number that the server appends to the name of a sequential node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zklock {

/// The number that the whole text is, if the server writes it so: "%010d", negative once the counter has overflowed.
[[nodiscard]] std::optional<std::int32_t> parse_sequence(std::string_view text) noexcept;

/// The number that the server appended, if `name` ends in the marker and a number.
[[nodiscard]] std::optional<std::int32_t> parse_sequence(std::string_view name, std::string_view marker) noexcept;

/// Formats the number as the server writes it.
[[nodiscard]] std::string format_sequence(std::int32_t sequence);

}  // namespace zklock
