// The locks below a path, one row each.
#pragma once

#include "survey.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace zklock::tools {

/// One lock, in words.
struct Summary {
  std::string path;
  std::string kind;  ///< "mutex", "read-write", "semaphore", "kazoo"
  std::size_t holders = 0;
  std::size_t waiting = 0;
  std::string holder;                 ///< the first holder: its client, or session; empty: none
  std::chrono::milliseconds since{};  ///< how long that one has been in the queue
};

/// A summary of each lock with a wait queue that is not empty. `now` is by this machine's clock.
[[nodiscard]] std::vector<Summary> summaries(const Survey& survey, std::chrono::system_clock::time_point now);

[[nodiscard]] std::string to_table(const std::vector<Summary>& locks);
[[nodiscard]] std::string to_json(const std::vector<Summary>& locks);

}  // namespace zklock::tools
