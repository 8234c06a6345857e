// Reads a tree of locks.
#pragma once

#include "wait_queues.hpp"

#include <zklock/client.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace zklock::tools {

/// The bounds of a survey.
struct Bounds {
  std::size_t nodes = 10'000;
  std::size_t depth = 16;  ///< below a base path
};

/// A node whose children look like a lock's.
struct LockDirectory {
  std::string path;
  std::vector<WaitQueue> queues;
  /// Names that have a lock's marker, but no number as the server writes it.
  std::vector<std::string> malformed;
  /// Other names, which are in no wait queue.
  std::vector<std::string> foreign;
};

struct Survey {
  std::vector<LockDirectory> directories;
  std::vector<std::string> unreadable;  ///< paths that the client may not read
  std::vector<std::string> cut_off;     ///< paths at which a bound was reached: what is below them was not read
};

/// Reads everything at the base paths and below, within the bounds. Blocks. Throws Failure for a base path that does
/// not exist.
[[nodiscard]] Survey survey(const ClientHandle& client, const std::vector<std::string>& base_paths, Bounds bounds);

/// Of each wait queue, the nodes that were there before and still exist.
[[nodiscard]] std::vector<WaitQueue> look_again(const ClientHandle& client,
                                                const std::vector<LockDirectory>& directories);

}  // namespace zklock::tools
