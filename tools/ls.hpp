// zklock ls
#pragma once

#include "options.hpp"

#include <zklock/recipes/inter_process_mutex.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace zklock::tools {

[[nodiscard]] int ls(const LsOptions& options);

/// One in line, in words.
struct Place {
  int position = 0;  ///< 1 holds the lock
  std::string state;
  std::string client;  ///< empty: the node is not zklock's
  std::uint32_t count = 0;
  std::string session;
  std::int64_t fencing_token = 0;
  std::chrono::milliseconds age{};
  std::string node;
};

/// `now` is by this machine's clock: an age is never negative.
[[nodiscard]] std::vector<Place> places(const std::vector<Participant>& line,
                                        std::chrono::system_clock::time_point now);

[[nodiscard]] std::string to_table(const std::vector<Place>& line);
[[nodiscard]] std::string to_json(const std::vector<Place>& line);

}  // namespace zklock::tools
