// I6 and I7, without refusals (check_refusals.cpp): each operation comes to its end, once and in time.
#include "judge.hpp"

#include <algorithm>
#include <iterator>
#include <map>

namespace zklock::chaos {
namespace {

using OperationKey = std::pair<int, std::int64_t>;
OperationKey key_of(const Record& record) { return {record.process, record.operation}; }

/// How long an acquire with that limit may take.
std::chrono::microseconds longest_try(const Bounds& bounds, const Record& invoked) {
  return invoked.limit == 0 ? bounds.one_try : std::chrono::microseconds{invoked.limit * 1'000};
}

struct Operation {
  std::optional<Record> invoked{};
  std::optional<Record> granted{};
  std::int64_t last_at = 0;
  int outcomes = 0;  ///< refusals, and grants of one token
  int ends = 0;
  bool goes_on = false;  ///< after its end
};

std::map<OperationKey, Operation> operations_of(const Evidence& evidence) {
  std::map<OperationKey, Operation> all;
  for (const Record& each : evidence.users) {
    if (each.operation == 0) continue;
    Operation& operation = all[key_of(each)];
    operation.last_at = each.at;
    if (operation.ends > 0 && each.event != Event::lost) operation.goes_on = true;
    if (each.event == Event::invoked) operation.invoked = each;
    if (each.event == Event::refused) ++operation.outcomes;
    if (each.event == Event::granted) {
      if (!operation.granted) ++operation.outcomes;  // several permits, or locks, are one outcome
      operation.granted = each;
    }
    if (each.event == Event::refused || each.event == Event::granted) {
      if (!operation.granted) operation.granted = each;
    }
    if (each.event == Event::finished) ++operation.ends;
  }
  return all;
}

/// The time by which the operation must have its outcome, and its end, whatever fails. Others may keep an operation
/// without a limit waiting for long; whether it was its turn is another question (check_refusals.cpp).
std::int64_t due_at(const Bounds& bounds, const Operation& operation) {
  const std::int64_t tolerance = bounds.troubled_handoff.count();
  if (operation.outcomes > 0) return operation.last_at + bounds.one_try.count() + tolerance;
  if (!operation.invoked || operation.invoked->limit < 0) return INT64_MAX;
  return operation.invoked->at + longest_try(bounds, *operation.invoked).count() + tolerance;
}

/// Since when an operation was first in its wait queue: in all of its queues, if it waited for several locks as one.
std::map<OperationKey, std::int64_t> first_in_queue(const Evidence& evidence) {
  std::map<OperationKey, std::int64_t> all;
  for (const auto& [token, hold] : evidence.holds)
    if (const Node* node = evidence.history.find(token); node && node->became_first_at >= 0) {
      std::int64_t& since = all[key_of(hold.granted)];
      since = std::max(since, node->became_first_at);
    }
  return all;
}

/// The times in which no node blocked a waiter any more and it was not yet granted.
std::vector<std::pair<Interval, const Hold*>> handoffs(const Evidence& evidence) {
  std::vector<std::pair<Interval, const Hold*>> all;
  const auto since = first_in_queue(evidence);
  for (const auto& [token, hold] : evidence.holds)
    if (const auto first = since.find(key_of(hold.granted)); first != since.end() && first->second < hold.granted.at)
      all.emplace_back(Interval{first->second, hold.granted.at}, &hold);
  return all;
}

std::int64_t length_of(const Evidence& evidence, const Interval& when, int process) {
  return when.end - when.begin - evidence.stopped(process, when).count();
}

}  // namespace

double longest_handoff(const Evidence& evidence) {
  std::int64_t longest = 0;
  for (const auto& [wait, hold] : handoffs(evidence))
    if (evidence.is_quiet(wait, hold->granted.process)) longest = std::max(longest, wait.end - wait.begin);
  return static_cast<double>(longest) / 1'000;
}

std::vector<Violation> check_liveness(const Evidence& evidence) {
  std::vector<Violation> found;
  for (const auto& [wait, hold] : handoffs(evidence)) {
    if (evidence.is_too_long(hold->granted.process, wait))
      found.push_back({"the first in the queue waited for " + std::to_string((wait.end - wait.begin) / 1'000) + " ms",
                       {evidence.node_of(hold->granted)},
                       hold->granted.process,
                       hold->granted.operation,
                       wait.end});
  }
  std::ranges::move(find_passed_over(evidence), std::back_inserter(found));
  std::ranges::move(find_starved(evidence), std::back_inserter(found));
  std::map<int, std::int64_t> working;
  for (const Record& each : evidence.users) working[each.process] = each.at;
  for (const auto& [process, last] : working)
    if (evidence.killed_at(process) == INT64_MAX && !evidence.drained.contains(process))
      found.push_back({"a process does not come to its end", {}, process});
  for (const Record& each : evidence.faults)
    if (each.event == Event::measured && each.reason == "exit_status" && each.number != 0)
      found.push_back({"a process ends with status " + std::to_string(each.number), {}, each.process, 0, each.at});
  std::map<OperationKey, std::int64_t> ends;
  for (const Record& each : evidence.users)
    if (each.event == Event::refused || each.event == Event::granted) ends.emplace(key_of(each), each.at);
  for (const Record& each : evidence.users) {
    const auto end = ends.find(key_of(each));
    if (each.event != Event::invoked || each.limit < 0 || end == ends.end()) continue;
    const auto limit = longest_try(evidence.bounds, each) + evidence.bounds.tolerance;
    const std::int64_t length = length_of(evidence, {each.at, end->second}, each.process);
    if (length > limit.count() && length > (limit + 2 * evidence.lateness({each.at, end->second})).count())
      found.push_back({"an acquire of at most " + std::to_string(each.limit) + " ms has taken " +
                           std::to_string(length / 1'000) + " ms",
                       {},
                       each.process,
                       each.operation});
  }
  return found;
}

std::vector<Violation> check_outcomes(const Evidence& evidence) {
  std::vector<Violation> found;
  for (const auto& [key, operation] : operations_of(evidence)) {
    const auto [process, number] = key;
    const bool none = operation.outcomes == 0 || operation.ends == 0;
    const std::int64_t killed_at = evidence.killed_at(process);
    const bool may_be_unfinished =
        killed_at != INT64_MAX && killed_at - evidence.stopped(process, {operation.last_at, killed_at}).count() <=
                                      due_at(evidence.bounds, operation);
    if ((none && !may_be_unfinished) || operation.outcomes > 1 || operation.ends > 1 || operation.goes_on)
      found.push_back({"an operation has " + std::to_string(operation.outcomes) + " outcomes and " +
                           std::to_string(operation.ends) + " ends" + (operation.goes_on ? ", and goes on" : ""),
                       {},
                       process,
                       number,
                       none ? evidence.ends_at : 0});
  }
  return found;
}

}  // namespace zklock::chaos
