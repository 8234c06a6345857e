// Node paths: what ZooKeeper accepts, and putting them together.
#pragma once

#include <zklock/error.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace zklock {

/// The first thing wrong with a string.
struct Flaw {
  std::size_t offset = 0;   ///< in bytes
  std::string_view reason;  ///< in words; empty when nothing is wrong

  [[nodiscard]] explicit operator bool() const noexcept { return !reason.empty(); }
};

/// The first reason for which a server would refuse `path`, or damage it: relative, a trailing or a double '/', a '.'
/// or '..' component, a NUL or another control character, invalid UTF-8, a code point that Java's string checks reject
/// (all at or above U+D800 but the block U+F900 to U+FFEF). The offset is that of the first byte of the offending
/// character or component.
///
/// Source: PathUtils.validatePath of ZooKeeper 3.8, which sees UTF-16 units.
[[nodiscard]] Flaw find_path_flaw(std::string_view path) noexcept;

/// Throws boost::system::system_error with Error::invalid_path, offset and reason in its text.
void validate_path(std::string_view path);

/// As validate_path for the directory of a lock: besides, not "/", not under "/zookeeper", and at most 1000 bytes,
/// since every watch under it is sent again at each reconnect. Throws Error::invalid_lock_path.
void validate_lock_path(std::string_view path);

/// `parent` and `child` with one '/' between them, also where one of them brings it along. Neither is validated.
[[nodiscard]] std::string join_path(std::string_view parent, std::string_view child);

/// "/a/b" of "/a/b/c"; "/" of "/a" and of "/". The result points into `path`, or at a literal.
[[nodiscard]] std::string_view parent_path(std::string_view path) noexcept;

/// "c" of "/a/b/c"; nothing of "/". The result points into `path`.
[[nodiscard]] std::string_view node_name(std::string_view path) noexcept;

/// `text` in double quotes, for messages and logs: control characters and bytes that are not UTF-8 as \xNN, the rest as
/// it is; cut after some 200 bytes.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace zklock
