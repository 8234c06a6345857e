// Columns of text.
#pragma once

#include <string>
#include <vector>

namespace zklock::tools {

/// Rows with equally many cells each, the header first.
using Table = std::vector<std::vector<std::string>>;

/// Makes each column as wide as its widest cell, and escapes what a terminal does not show as it is (printable).
[[nodiscard]] std::string to_text(const Table& table);

}  // namespace zklock::tools
