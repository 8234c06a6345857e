// Columns of text.
#pragma once

#include <string>
#include <vector>

namespace zklock::tools {

/// Rows of as many cells each, the header first.
using Table = std::vector<std::vector<std::string>>;

/// Each column as wide as its widest cell, and what does not show as what it is escaped (printable).
[[nodiscard]] std::string to_text(const Table& table);

}  // namespace zklock::tools
