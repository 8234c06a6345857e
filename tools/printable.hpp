// Text of others, for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace zklock::tools {

/// The text with everything escaped that does not show as what it is: control characters, lines' ends too, as "\u{1B}";
/// so are characters that change the direction of writing, take no room or are spaces of another kind; bytes that are
/// no UTF-8 as "\xFF"; and "\" as "\\".
[[nodiscard]] std::string printable(std::string_view text);

/// The same JSON in ASCII: other characters as "\u202e", bytes that are no UTF-8 as "\ufffd".
[[nodiscard]] std::string to_ascii(std::string_view json);

}  // namespace zklock::tools
