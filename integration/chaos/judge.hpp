// The verdict on a run: fifteen invariants, each with a checker of its own.
#pragma once

#include "evidence.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::chaos {

/// Something that must not be.
struct Violation {
  std::string what{};
  std::vector<std::int64_t> tokens{};  ///< of the nodes that it is about
  int process = 0;                     ///< or the process
  std::int64_t operation = 0;          ///< and what it was doing
};

struct Invariant {
  std::string_view name;
  std::string_view sentence;
  std::vector<Violation> (*check)(const Evidence&);
};

[[nodiscard]] std::span<const Invariant> invariants();

/// What the logs have on that violation, in the order of time: the lives of its nodes, what their users did, what the
/// register saw, and what was wrong meanwhile.
[[nodiscard]] std::string tell(const Evidence& evidence, const Violation& violation);

/// Of all hand-overs to a running waiter while nothing was wrong, the longest, in milliseconds.
[[nodiscard]] double longest_hand_over(const Evidence& evidence);

// Each by itself, for the tests.
std::vector<Violation> check_fenced_exclusion(const Evidence& evidence);
std::vector<Violation> check_overlaps(const Evidence& evidence);
std::vector<Violation> check_grants(const Evidence& evidence);
std::vector<Violation> check_losses(const Evidence& evidence);
std::vector<Violation> check_order(const Evidence& evidence);
std::vector<Violation> check_liveness(const Evidence& evidence);
std::vector<Violation> check_outcomes(const Evidence& evidence);
std::vector<Violation> check_nodes(const Evidence& evidence);
std::vector<Violation> check_deleters(const Evidence& evidence);
std::vector<Violation> check_watches(const Evidence& evidence);
std::vector<Violation> check_node_data(const Evidence& evidence);
std::vector<Violation> check_resources(const Evidence& evidence);
std::vector<Violation> check_retries(const Evidence& evidence);
std::vector<Violation> check_isolation(const Evidence& evidence);
std::vector<Violation> check_loop(const Evidence& evidence);

}  // namespace zklock::chaos
