// The verdict on a run: twenty-one invariants, each with a checker of its own.
#pragma once

#include "evidence.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zklock::chaos {

/// A violation of an invariant.
struct Violation {
  std::string what{};
  std::vector<std::int64_t> tokens{};  ///< of the nodes that it is about
  int process = 0;                     ///< or the process
  std::int64_t operation = 0;          ///< and its operation
  std::int64_t at = 0;                 ///< when; 0: the time follows from the nodes and the operation
  std::string path{};                  ///< of what was kept or followed
};

struct Invariant {
  std::string_view name;
  std::string_view sentence;
  std::vector<Violation> (*check)(const Evidence&);
};

[[nodiscard]] std::span<const Invariant> invariants();

/// What the logs say about that violation, in the order of time: the lives of its nodes, what their users did, what the
/// register saw, and what was wrong meanwhile.
[[nodiscard]] std::string tell(const Evidence& evidence, const Violation& violation);

/// The longest of all handoffs to a running waiter while nothing was wrong, in milliseconds.
[[nodiscard]] double longest_handoff(const Evidence& evidence);

/// The least margin, in milliseconds, over all sessions that the servers have ended by themselves: how much later a
/// session ended than the time until which it, or its leases, had reported itself valid.
[[nodiscard]] std::optional<double> least_margin(const Evidence& evidence);

/// How many acquires were asked for, and how many were granted.
struct Tally {
  std::int64_t asked = 0;
  std::int64_t granted = 0;
  std::int64_t asked_with_limit = 0;  ///< of these
  std::int64_t granted_with_limit = 0;
};
[[nodiscard]] std::map<std::string, Tally> tally_by_kind(const Evidence& evidence);

/// The time by which all had happened that the violation is about; the end of the run for what was found there.
[[nodiscard]] std::int64_t shown_at(const Evidence& evidence, const Violation& violation);

// The single checks, for the tests.
std::vector<Violation> check_fenced_exclusion(const Evidence& evidence);
std::vector<Violation> check_overlaps(const Evidence& evidence);
std::vector<Violation> check_grants(const Evidence& evidence);
std::vector<Violation> check_losses(const Evidence& evidence);
std::vector<Violation> check_trust(const Evidence& evidence);
std::vector<Violation> check_order(const Evidence& evidence);
std::vector<Violation> check_liveness(const Evidence& evidence);
std::vector<Violation> find_passed_over(const Evidence& evidence);  // a part of check_liveness, as is the next one
std::vector<Violation> find_starved(const Evidence& evidence);
std::vector<Violation> check_outcomes(const Evidence& evidence);
std::vector<Violation> check_nodes(const Evidence& evidence);
std::vector<Violation> check_deleters(const Evidence& evidence);
std::vector<Violation> check_watches(const Evidence& evidence);
std::vector<Violation> check_node_data(const Evidence& evidence);
std::vector<Violation> check_resources(const Evidence& evidence);
std::vector<Violation> check_retries(const Evidence& evidence);
std::vector<Violation> check_isolation(const Evidence& evidence);
std::vector<Violation> check_loop(const Evidence& evidence);
std::vector<Violation> check_audit(const Evidence& evidence);
std::vector<Violation> check_presence(const Evidence& evidence);
std::vector<Violation> find_misshown_groups(const Evidence& evidence);  // a part of check_presence
std::vector<Violation> check_following(const Evidence& evidence);
std::vector<Violation> check_counts(const Evidence& evidence);
std::vector<Violation> check_leaders(const Evidence& evidence);

}  // namespace zklock::chaos
