#include "table.hpp"

#include "printable.hpp"

#include <algorithm>
#include <cstddef>

namespace zklock::tools {
namespace {

/// In characters of UTF-8.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80; }));
}

}  // namespace

std::string to_text(const Table& table) {
  Table rows = table;
  std::vector<std::size_t> widths(rows.front().size());
  for (auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = printable(row[i]);
      widths[i] = std::max(widths[i], width_of(row[i]));
    }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i)
      text += row[i] + std::string(widths[i] + 2 - width_of(row[i]), ' ');
    text += row.back() + "\n";
  }
  return text;
}

}  // namespace zklock::tools
