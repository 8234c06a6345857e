// What the tests of the judge on locks that their clients keep have in common.
#pragma once

#include "judge_story.hpp"
#include "register.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace zklock::chaos {

/// What all the questions find about exclusion, order, losses, leftovers and the audit log.
inline std::vector<std::string> all_violations(Story& story) {
  const Evidence& evidence = story.tell();
  std::vector<std::string> all;
  for (const auto check : {check_fenced_exclusion, check_overlaps, check_grants, check_losses, check_order,
                           check_liveness, check_outcomes, check_nodes, check_deleters, check_node_data, check_audit})
    for (const Violation& each : check(evidence)) all.push_back(each.what);
  return all;
}

/// A use of a lock, from its grant to the end of its release, by the node of that name. Uses may overlap.
struct Turn {
  double from;
  double to;
  std::int64_t operation;
  std::int64_t token;
  int process = 1;
  std::string name = process == 1 ? a : b;
  Share share = Share::alone;
  double invoked = from - 0.2;
};

inline void turn(Story& story, const Turn& used) {
  auto [users, visits, audit] = std::tie(story.evidence.users, story.evidence.visits, story.evidence.audit);
  const auto number = static_cast<std::int64_t>(used.share);
  for (const auto& [at, event, reason] :
       {std::tuple{used.invoked, Event::invoked, ""}, std::tuple{used.from, Event::granted, ""},
        std::tuple{used.to - 0.1, Event::releasing, ""}, std::tuple{used.to, Event::released, "ok"},
        std::tuple{used.to, Event::finished, ""}}) {
    story.user(at, event, used.process, used.token, reason);
    users.back().operation = used.operation;
    if (event == Event::granted) users.back().number = number;
  }
  for (const auto& [at, event] : {std::pair{used.from + 0.1, Event::entered}, std::pair{used.to - 0.2, Event::left}}) {
    story.visit(at, event, used.process, used.token);
    visits.back().operation = used.operation;
    visits.back().number = number;
  }
  using Kind = AuditRecord::Kind;
  for (const auto& [at, kind] : {std::pair{used.from, Kind::granted}, std::pair{used.to, Kind::released}}) {
    story.audit(at, kind, used.process, used.token, used.name);
    audit.back().attempt = used.operation;
  }
  std::ranges::stable_sort(users, {}, &Record::at);
  std::ranges::stable_sort(visits, {}, &Record::at);
}

/// The first record of that kind of that operation.
inline Record& record_of(std::vector<Record>& log, std::int64_t operation, Event event) {
  return *std::ranges::find_if(log,
                               [&](const Record& each) { return each.operation == operation && each.event == event; });
}

}  // namespace zklock::chaos
