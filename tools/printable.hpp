// Text from other programs, made safe for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace zklock::tools {

/// Escapes everything in the text that a terminal does not show as it is. Control characters, ends of lines included,
/// become "\u{1B}"; so do characters that change the direction of writing, have no width or are other kinds of spaces.
/// Bytes that are not UTF-8 become "\xFF", and "\" becomes "\\".
[[nodiscard]] std::string printable(std::string_view text);

/// The text as one word of a command, for a shell to read; itself printable. Most names are their own word. Others are
/// quoted, and whatever is not shown as it is, or would end the quotes, is escaped as bash, zsh and ksh read it:
/// $'two\x0Alines'. No shell runs any part of it.
[[nodiscard]] std::string shell_word(std::string_view text);

/// The same JSON in ASCII: other characters become "\u202e", bytes that are not UTF-8 "\ufffd".
[[nodiscard]] std::string to_ascii(std::string_view json);

}  // namespace zklock::tools
