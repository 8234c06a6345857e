// zklock ls
#pragma once

#include "lines.hpp"
#include "options.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace zklock::tools {

[[nodiscard]] int ls(const LsOptions& options);

/// One in line, in words.
struct Place {
  int position = 0;
  std::string state;   ///< "holder", "asked" (a holder who shall give it back), "waiting"
  std::string client;  ///< empty: the node does not tell
  std::uint32_t count = 0;
  std::string session;
  std::int64_t fencing_token = 0;
  std::chrono::milliseconds age{};
  std::string kind;
  std::string node;
};

/// `now` is by this machine's clock: an age is never negative.
[[nodiscard]] std::vector<Place> places(const std::vector<Line>& lines, std::chrono::system_clock::time_point now);
[[nodiscard]] std::vector<Place> places(const SemaphoreLines& semaphore, std::chrono::system_clock::time_point now);

[[nodiscard]] std::string to_table(const std::vector<Place>& places);
[[nodiscard]] std::string to_json(const std::vector<Place>& places);
/// Of a node that keeps a number of permits (SharedPermits).
[[nodiscard]] std::string permits_to_json(const std::string& path, std::int32_t permits);

}  // namespace zklock::tools
