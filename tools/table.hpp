// Columns of text, and numbers of things.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace zklock::tools {

/// Rows with equally many cells each, the header first.
using Table = std::vector<std::vector<std::string>>;

/// "1 lock", "2 locks"
[[nodiscard]] inline std::string counted(std::size_t number, const std::string& what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

/// Makes each column as wide as its widest cell, and escapes what a terminal does not show as it is (printable).
[[nodiscard]] std::string to_text(const Table& table);

}  // namespace zklock::tools
