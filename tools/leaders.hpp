// zklock leaders
#pragma once

#include "options.hpp"

#include <zklock/recipes/leader/leader.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace zklock::tools {

[[nodiscard]] int leaders(const LeadersOptions& options);

/// The candidates in the order of the queue, the leader first. `now` is by this machine's clock: an age is never
/// negative.
[[nodiscard]] std::string to_table(const std::vector<Leader>& candidates, std::chrono::system_clock::time_point now);
[[nodiscard]] std::string to_json(const std::vector<Leader>& candidates, std::chrono::system_clock::time_point now);

}  // namespace zklock::tools
