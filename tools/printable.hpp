// Text from other programs, made safe for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace zklock::tools {

/// Escapes everything in the text that a terminal does not show as it is. Control characters, ends of lines included,
/// become "\u{1B}"; so do characters that change the direction of writing, have no width or are other kinds of spaces.
/// Bytes that are not UTF-8 become "\xFF", and "\" becomes "\\".
[[nodiscard]] std::string printable(std::string_view text);

/// The same JSON in ASCII: other characters become "\u202e", bytes that are not UTF-8 "\ufffd".
[[nodiscard]] std::string to_ascii(std::string_view json);

}  // namespace zklock::tools
