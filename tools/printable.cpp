#include "printable.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>

namespace zklock::tools {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

/// Unicode's categories Cc, Cf, Cs, Co, Zl, Zp, Zs except " ", what it lists as Default_Ignorable_Code_Point, and the
/// planes that have no characters.
constexpr std::array hidden{
    Range{0x0, 0x1F},        Range{0x7F, 0xA0},       Range{0xAD, 0xAD},       Range{0x34F, 0x34F},
    Range{0x600, 0x605},     Range{0x61C, 0x61C},     Range{0x6DD, 0x6DD},     Range{0x70F, 0x70F},
    Range{0x890, 0x891},     Range{0x8E2, 0x8E2},     Range{0x115F, 0x1160},   Range{0x1680, 0x1680},
    Range{0x17B4, 0x17B5},   Range{0x180B, 0x180F},   Range{0x2000, 0x200F},   Range{0x2028, 0x202F},
    Range{0x205F, 0x206F},   Range{0x2800, 0x2800},   Range{0x3000, 0x3000},   Range{0x3164, 0x3164},
    Range{0xD800, 0xF8FF},   Range{0xFDD0, 0xFDEF},   Range{0xFE00, 0xFE0F},   Range{0xFEFF, 0xFEFF},
    Range{0xFFA0, 0xFFA0},   Range{0xFFF0, 0xFFFB},   Range{0xFFFE, 0xFFFF},   Range{0x110BD, 0x110BD},
    Range{0x110CD, 0x110CD}, Range{0x13430, 0x1345F}, Range{0x1BCA0, 0x1BCA3}, Range{0x1D173, 0x1D17A},
    Range{0xE0000, 0x10FFFF}};

bool is_hidden(char32_t character) {
  return std::ranges::any_of(hidden, [=](Range range) { return range.first <= character && character <= range.last; });
}

struct Decoded {
  char32_t character = 0;
  std::size_t size = 1;
};

/// Decodes the first character; std::nullopt if the first byte begins none: then the next byte may.
std::optional<Decoded> decode(std::string_view text) {
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return Decoded{lead, 1};
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return std::nullopt;
  auto character = static_cast<char32_t>(lead & (0x7FU >> size));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return std::nullopt;
    character = character << 6U | (byte(i) & 0x3FU);
  }
  constexpr std::array<char32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = character >= 0xD800 && character <= 0xDFFF;
  if (character < least[size] || character > 0x10FFFF || is_surrogate) return std::nullopt;
  return Decoded{character, size};
}

std::string formatted(const char* format, char32_t number) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), format, static_cast<unsigned>(number));
  return text.data();
}

/// Calls `each` with each character and its bytes, or with a byte that belongs to none.
template <class Each>
std::string rewrite(std::string_view text, Each each) {
  std::string result;
  while (!text.empty()) {
    const auto decoded = decode(text);
    const std::size_t size = decoded ? decoded->size : 1;
    result += each(decoded, text.substr(0, size));
    text.remove_prefix(size);
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) {
  return rewrite(text, [](const std::optional<Decoded>& decoded, std::string_view bytes) -> std::string {
    if (!decoded) return formatted("\\x%02X", static_cast<unsigned char>(bytes[0]));
    if (decoded->character == U'\\') return "\\\\";
    return is_hidden(decoded->character) ? formatted("\\u{%X}", decoded->character) : std::string{bytes};
  });
}

std::string to_ascii(std::string_view json) {
  return rewrite(json, [](const std::optional<Decoded>& decoded, std::string_view bytes) -> std::string {
    const char32_t character = decoded ? decoded->character : 0xFFFD;
    if (character < 0x7F) return std::string{bytes};
    if (character < 0x10000) return formatted("\\u%04x", character);
    return formatted("\\u%04x", 0xD7C0 + (character >> 10U)) + formatted("\\u%04x", 0xDC00 + (character & 0x3FFU));
  });
}

}  // namespace zklock::tools
