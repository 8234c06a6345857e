// Reads the nodes of an election.
#pragma once

#include "candidate.hpp"

#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/leader/leader.hpp>
#include <zklock/session.hpp>

#include <memory>
#include <string>
#include <vector>

namespace zklock::detail {

/// The candidates' names among the children, in the order of the queue.
[[nodiscard]] std::vector<std::string> candidate_names(const Candidate& candidate, const Children& children);

[[nodiscard]] Leader to_leader(std::string path, const DataResult& node);

[[nodiscard]] Awaitable<Result<std::vector<Leader>>> list_candidates(std::shared_ptr<Candidate> candidate);

}  // namespace zklock::detail
