// Durations, as they are written on a command line.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace zklock::tools {

/// Parses "500ms", "1.5s", "2m" or "1h": a number and its unit, of whole milliseconds and up to a year in all; or "0".
/// Throws std::invalid_argument.
[[nodiscard]] std::chrono::milliseconds parse_duration(std::string_view text);

/// Formats the duration for parse_duration, in the largest unit that is exact.
[[nodiscard]] std::string format_duration(std::chrono::milliseconds duration);

/// Formats the age for people: "0.4s", "12s", "3m05s", "2h14m", "5d03h".
[[nodiscard]] std::string format_age(std::chrono::milliseconds age);

}  // namespace zklock::tools
