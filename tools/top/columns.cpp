#include "columns.hpp"

#include <algorithm>
#include <cwchar>
#include <utility>
#include <vector>

namespace zklock::tools {
namespace {

struct Character {
  std::string bytes;
  int width = 1;
};

/// The next character, which is taken from the text.
Character take(std::string_view& text) {
  std::mbstate_t state{};
  wchar_t wide = 0;
  const std::size_t size = std::mbrtowc(&wide, text.data(), text.size(), &state);
  if (size == 0 || size > text.size()) {
    std::size_t bytes = 1;  // the rest of a character of UTF-8 goes with its first byte
    while (bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80) ++bytes;
    text.remove_prefix(bytes);
    return {"?", 1};
  }
  const int width = ::wcwidth(wide);
  Character result{width < 0 ? "?" : std::string{text.substr(0, size)}, width < 0 ? 1 : width};
  text.remove_prefix(size);
  return result;
}

std::vector<Character> characters_of(std::string_view text) {
  std::vector<Character> result;
  while (!text.empty()) result.push_back(take(text));
  return result;
}

int width_of(const std::vector<Character>& characters) {
  int width = 0;
  for (const Character& one : characters) width += one.width;
  return width;
}

/// At most so many columns of the text, and how many of them it takes.
std::pair<std::string, int> cut(std::string_view text, int columns) {
  auto characters = characters_of(text);
  int width = width_of(characters);
  const bool is_long = width > columns;
  while (!characters.empty() && width > columns - (is_long ? 1 : 0)) {
    width -= characters.back().width;
    characters.pop_back();
  }
  std::string result;
  for (const Character& one : characters) result += one.bytes;
  if (!is_long || columns < 1) return {std::move(result), width};
  return {result + "~", width + 1};
}

std::string spaces(int number) { return std::string(static_cast<std::size_t>(std::max(number, 0)), ' '); }

}  // namespace

std::string fit(std::string_view text, int columns) {
  const auto [kept, width] = cut(text, columns);
  return kept + spaces(columns - width);
}

std::string fit_right(std::string_view text, int columns) {
  const auto [kept, width] = cut(text, columns);
  return spaces(columns - width) + kept;
}

}  // namespace zklock::tools
