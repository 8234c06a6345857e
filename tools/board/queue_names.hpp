// What the names of a directory's children tell of its locks: pure decisions.
#pragma once

#include "wait_queues.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::tools {

/// A node of a wait queue, as its name describes it.
struct QueueName {
  std::string name;
  LockKind kind = LockKind::mutex;
  std::int32_t sequence = 0;

  friend bool operator==(const QueueName&, const QueueName&) = default;
};

/// The children of a directory, by what they are.
struct SortedNames {
  std::map<QueueKind, std::vector<QueueName>> queues;  ///< each in the order of the queue
  std::vector<std::string> malformed;                  ///< a lock's marker, but no number as the server writes it
  std::vector<std::string> foreign;                    ///< in no wait queue
  bool has_lock = false;                               ///< the directory is a lock's
};

/// Among permits each child counts, also one with another name.
[[nodiscard]] SortedNames sort_names(const std::string& directory, const std::vector<std::string>& names);

/// Whether the child may be a directory: it is no lock's node, and no attempt's.
[[nodiscard]] bool may_be_directory(const std::string& directory, std::string_view name);

}  // namespace zklock::tools
