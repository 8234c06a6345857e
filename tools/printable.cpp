#include "printable.hpp"

#include <zklock/detail/utf8.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>

namespace zklock::tools {
namespace {

using detail::first_character;
using detail::Utf8Character;

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

std::string formatted(const char* format, char32_t number) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), format, static_cast<unsigned>(number));
  return text.data();
}

/// Calls `each` with each character and its bytes, or with no character (of size 0) and a byte that belongs to none.
template <class Each>
std::string rewrite(std::string_view text, Each each) {
  std::string result;
  while (!text.empty()) {
    const Utf8Character first = first_character(text);
    const std::string_view bytes = text.substr(0, std::max<std::size_t>(first.size, 1));
    result += each(first, bytes);
    text.remove_prefix(bytes.size());
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) {
  return rewrite(text, [](Utf8Character character, std::string_view bytes) -> std::string {
    if (character.size == 0) return formatted("\\x%02X", static_cast<unsigned char>(bytes[0]));
    if (character.value == U'\\') return "\\\\";
    return is_hidden(character.value) ? formatted("\\u{%X}", character.value) : std::string{bytes};
  });
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view marks = "/_-.:@%+,=";
  const auto is_plain = [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || marks.find(c) != marks.npos;
  };
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return std::string{text};
  if (text.find('\'') == text.npos && printable(text) == text) return "'" + std::string{text} + "'";
  return "$'" +
         rewrite(text,
                 [](Utf8Character character, std::string_view bytes) {
                   const bool is_shown = character.size > 0 && !is_hidden(character.value);
                   if (is_shown && character.value != U'\'' && character.value != U'\\') return std::string{bytes};
                   std::string escaped;
                   for (const char byte : bytes) escaped += formatted("\\x%02X", static_cast<unsigned char>(byte));
                   return escaped;
                 }) +
         "'";
}

std::string to_ascii(std::string_view json) {
  return rewrite(json, [](Utf8Character character, std::string_view bytes) -> std::string {
    const char32_t value = character.size > 0 ? character.value : 0xFFFD;
    if (value < 0x7F) return std::string{bytes};
    if (value < 0x10000) return formatted("\\u%04x", value);
    return formatted("\\u%04x", 0xD7C0 + (value >> 10U)) + formatted("\\u%04x", 0xDC00 + (value & 0x3FFU));
  });
}

}  // namespace zklock::tools
