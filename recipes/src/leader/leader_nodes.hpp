// Reads the nodes of an election.
#pragma once

#include "candidate.hpp"

#include <zklock/recipes/leader/leader.hpp>
#include <zklock/session.hpp>

#include <string>
#include <vector>

namespace zklock::detail {

/// The candidates' names among the children, in the order of the queue.
[[nodiscard]] std::vector<std::string> candidate_names(const Candidate& candidate, const Children& children);

[[nodiscard]] Leader to_leader(std::string path, const DataResult& node);

}  // namespace zklock::detail
