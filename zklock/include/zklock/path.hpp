// Node paths: validation and composition.
#pragma once

#include <zklock/error.hpp>

#include <cstddef>
#include <new>
#include <string>
#include <string_view>

namespace zklock {

/// The first flaw of a string.
struct Flaw {
  std::size_t offset = 0;   ///< in bytes
  std::string_view reason;  ///< empty when there is no flaw

  [[nodiscard]] explicit operator bool() const noexcept { return !reason.empty(); }
};

/// Returns the first reason for which a server would refuse or damage `path`: a relative path, a trailing or double
/// '/', a '.' or '..' component, a NUL or another control character, invalid UTF-8, or a code point that Java's string
/// checks reject (all at or above U+D800 except the block U+F900 to U+FFEF). The offset is that of the first byte of
/// the offending character or component.
///
/// Source: PathUtils.validatePath of ZooKeeper 3.8, which sees UTF-16 units.
[[nodiscard]] Flaw validate_path(std::string_view path, std::nothrow_t) noexcept;

/// Throws boost::system::system_error with Error::invalid_path; its text has the offset and the reason.
void validate_path(std::string_view path);

/// Formats a flaw for messages: the path in quotes, the position of the flaw and its reason.
[[nodiscard]] std::string describe(Flaw flaw, std::string_view path);

/// Joins `parent` and `child` with exactly one '/', also if one of them already has it. Neither is validated.
[[nodiscard]] std::string join_path(std::string_view parent, std::string_view child);

/// Returns the parent: "/a/b" for "/a/b/c"; "/" for "/a" and for "/". The result points into `path` or at a literal.
[[nodiscard]] std::string_view parent_path(std::string_view path) noexcept;

/// Returns the last component: "c" for "/a/b/c"; an empty string for "/". The result points into `path`.
[[nodiscard]] std::string_view node_name(std::string_view path) noexcept;

/// Returns `text` in double quotes, for messages and logs. Control characters and bytes that are not UTF-8 become \xNN.
/// The text is cut after some 200 bytes.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace zklock
