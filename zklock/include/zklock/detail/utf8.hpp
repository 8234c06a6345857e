// Decodes UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace zklock::detail {

struct Utf8Character {
  char32_t value = 0;
  std::size_t size = 0;  ///< in bytes; 0: the bytes do not begin a character
};

/// The first character of a text. Strict: no overlong forms, no surrogates, nothing above U+10FFFF. Source: The Unicode
/// Standard, table 3-7, well-formed UTF-8 byte sequences. Threads: any.
[[nodiscard]] inline Utf8Character first_character(std::string_view text) noexcept {
  if (text.empty()) return {};
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return {};
  auto value = static_cast<char32_t>(lead & (0x7FU >> size));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    value = value << 6U | (byte(i) & 0x3FU);
  }
  const bool is_overlong = (size == 3 && value < 0x800) || (size == 4 && value < 0x10000);
  const bool is_surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (is_overlong || is_surrogate || value > 0x10FFFF) return {};
  return {value, size};
}

[[nodiscard]] inline bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const Utf8Character first = first_character(text);
    if (first.size == 0) return false;
    text.remove_prefix(first.size);
  }
  return true;
}

}  // namespace zklock::detail
