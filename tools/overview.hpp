// The locks below a path, a row each.
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
  std::string holder;                 ///< the first of them: its client, or session; empty: nobody
  std::chrono::milliseconds since{};  ///< how long that one has been in line
};

/// Of each lock that somebody stands in line for. `now` is by this machine's clock.
[[nodiscard]] std::vector<Summary> summaries(const Survey& survey, std::chrono::system_clock::time_point now);

[[nodiscard]] std::string to_table(const std::vector<Summary>& locks);
[[nodiscard]] std::string to_json(const std::vector<Summary>& locks);

}  // namespace zklock::tools
