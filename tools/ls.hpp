// zklock ls
#pragma once

#include "options.hpp"
#include "wait_queues.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace zklock::tools {

[[nodiscard]] int ls(const LsOptions& options);

/// A node of a wait queue, in words.
struct Place {
  int position = 0;
  std::string state;   ///< "holder", "asked" (a holder that was asked to release it), "waiting"
  std::string client;  ///< empty: the node's data does not tell it
  std::uint32_t count = 0;
  std::string session;
  std::int64_t fencing_token = 0;
  std::chrono::milliseconds age{};
  std::string kind;
  std::string node;
};

/// `now` is by this machine's clock: an age is never negative.
[[nodiscard]] std::vector<Place> places(const std::vector<WaitQueue>& queues,
                                        std::chrono::system_clock::time_point now);
[[nodiscard]] std::vector<Place> places(const SemaphoreQueues& semaphore, std::chrono::system_clock::time_point now);

[[nodiscard]] std::string to_table(const std::vector<Place>& places);
[[nodiscard]] std::string to_json(const std::vector<Place>& places);
/// For a node that stores a number of permits (SharedPermits).
[[nodiscard]] std::string permits_to_json(const std::string& path, std::int32_t permits);

}  // namespace zklock::tools
