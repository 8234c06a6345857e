#include "sequence_number.hpp"

#include <array>
#include <charconv>
#include <cstdio>

namespace zklock {

std::string format_sequence(std::int32_t sequence) {
  std::array<char, 16> text{};
  const int length = std::snprintf(text.data(), text.size(), "%010d", sequence);
  return {text.data(), static_cast<std::size_t>(length)};
}

std::optional<std::int32_t> parse_sequence(std::string_view text) noexcept {
  std::int32_t sequence = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), sequence).ec != std::errc{}) return std::nullopt;
  if (text != format_sequence(sequence)) return std::nullopt;
  return sequence;
}

std::optional<std::int32_t> parse_sequence(std::string_view name, std::string_view marker) noexcept {
  const auto at = name.rfind(marker);
  return at == std::string_view::npos ? std::nullopt : parse_sequence(name.substr(at + marker.size()));
}

}  // namespace zklock
