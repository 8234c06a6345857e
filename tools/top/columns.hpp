// Text in the columns of a terminal.
#pragma once

#include <string>
#include <string_view>

namespace zklock::tools {

/// The text, which is printable(), in exactly so many columns: filled up with spaces, or cut, with "~" in the last one.
/// What the program's locale cannot write, or whose width it does not know, becomes "?".
[[nodiscard]] std::string fit(std::string_view text, int columns);

/// The same, at the right end of the columns.
[[nodiscard]] std::string fit_right(std::string_view text, int columns);

}  // namespace zklock::tools
