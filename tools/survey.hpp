// Reading a tree of locks.
#pragma once

#include "lines.hpp"

#include <zklock/client.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace zklock::tools {

/// How far a survey goes.
struct Bounds {
  std::size_t nodes = 10'000;
  std::size_t depth = 16;  ///< below a base path
};

/// A node with children that look like a lock's.
struct LockDirectory {
  std::string path;
  std::vector<Line> lines;
  /// Names that have a lock's marker, but no number as the server writes it.
  std::vector<std::string> malformed;
  /// Other names: in no line.
  std::vector<std::string> foreign;
};

struct Survey {
  std::vector<LockDirectory> directories;
  std::vector<std::string> unreadable;  ///< paths that we may not read
  std::vector<std::string> cut_off;     ///< paths at which a bound was hit: what is below them was not looked at
};

/// Everything at the base paths and below, within the bounds. Blocks. Throws Failure for a base path that does not
/// exist.
[[nodiscard]] Survey survey(const ClientHandle& client, const std::vector<std::string>& base_paths, Bounds bounds);

/// Of each line those who were there before and are there still.
[[nodiscard]] std::vector<Line> look_again(const ClientHandle& client, const std::vector<LockDirectory>& directories);

}  // namespace zklock::tools
