#include "judge.hpp"

#include <algorithm>
#include <array>
#include <sstream>

namespace zklock::chaos {

std::span<const Invariant> invariants() {
  static constexpr std::array<Invariant, 21> all{{
      {"I1", "tokens grow, and each has one holder", &check_fenced_exclusion},
      {"I2", "two are inside together only where a session's end, a loss, a pause or an operator explains it",
       &check_overlaps},
      {"I3", "a lock is granted to the first in its queue, by the servers' log", &check_grants},
      {"I4", "a loss is told, and in time", &check_losses},
      {"I5", "first come, first served", &check_order},
      {"I6", "handoffs and operations end in time, and no client is refused whose turn it is", &check_liveness},
      {"I7", "each operation has one outcome, and one end", &check_outcomes},
      {"I8", "no node is left or outlives its operation, and no attempt has two", &check_nodes},
      {"I9", "nodes are deleted by those who made them", &check_deleters},
      {"I10", "no watch is left", &check_watches},
      {"I11", "a node's data are its client and its count", &check_node_data},
      {"I12", "descriptors and threads do not grow", &check_resources},
      {"I13", "neither connections nor requests are made without end", &check_retries},
      {"I14", "the process is as it was", &check_isolation},
      {"I15", "the I/O thread is never kept waiting", &check_loop},
      {"I16", "no lease trusts itself for longer than its session lives", &check_trust},
      {"I17", "each grant, release and loss is in the audit log, once", &check_audit},
      {"I18", "what is kept is there, and a group is shown as it was, in time", &check_presence},
      {"I19", "what is followed is shown as it was, in order and in time", &check_following},
      {"I20", "each version of a count was written by the one that says so", &check_counts},
      {"I21", "a node stays until its holder gives it up, and leaders are shown as they were, in time", &check_leaders},
  }};
  return all;
}

namespace {

std::string to_line(const Node& node) {
  static constexpr std::array<const char*, 4> ends{"lives", "deleted by its owner", "gone with its session",
                                                   "deleted by another"};
  std::ostringstream line;
  line << "node " << node.path << " of session 0x" << std::hex << node.session << std::dec << ", transactions "
       << node.created << " to " << node.removed << ", at " << node.created_at << " to " << node.removed_at
       << ", first at " << node.became_first_at << ", " << ends[static_cast<std::size_t>(node.end)] << '\n';
  return std::move(line).str();
}

}  // namespace

std::int64_t shown_at(const Evidence& evidence, const Violation& violation) {
  std::int64_t at = violation.at;
  for (const std::int64_t token : violation.tokens) {
    const Node* node = evidence.history.find(token);
    const auto hold = evidence.holds.find(token);
    if (node) at = std::max(at, node->created_at);
    if (hold != evidence.holds.end()) at = std::max(at, hold->second.granted.at);
  }
  if (at == 0 && violation.operation != 0)
    for (const Record& each : evidence.users)
      if (each.process == violation.process && each.operation == violation.operation) at = std::max(at, each.at);
  return at == 0 ? evidence.ends_at : at;
}

std::string tell(const Evidence& evidence, const Violation& violation) {
  std::string text = violation.what + "\n";
  std::vector<Record> records;
  const auto is_about = [&](const Record& each) {
    if (std::ranges::find(violation.tokens, each.token) != violation.tokens.end() && each.token != 0) return true;
    return violation.operation != 0 && each.process == violation.process && each.operation == violation.operation;
  };
  for (const auto* log : {&evidence.users, &evidence.visits})
    std::ranges::copy_if(*log, std::back_inserter(records), is_about);
  for (const std::int64_t token : violation.tokens)
    if (const Node* node = evidence.history.find(token)) text += to_line(*node);
  constexpr std::int64_t shortly = 5'000'000;
  std::ranges::copy_if(evidence.follows, std::back_inserter(records), [&](const Record& each) {
    return each.lock == violation.path && each.process == violation.process && each.at <= violation.at &&
           each.at >= violation.at - shortly;
  });
  if (!records.empty()) {
    const auto [first, last] = std::ranges::minmax(records, {}, &Record::at);
    constexpr std::int64_t before = 3'000'000;
    std::ranges::copy_if(evidence.faults, std::back_inserter(records),
                         [from = first.at - before, to = last.at](const Record& each) {
                           return each.event != Event::measured && each.at >= from && each.at <= to;
                         });
  }
  std::ranges::stable_sort(records, {}, &Record::at);
  for (const Record& each : records) text += to_line(each);
  return text;
}

}  // namespace zklock::chaos
