// I8 to I15: what is left behind, and side effects.
#include "followings.hpp"
#include "judge.hpp"
#include "layout.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <regex>
#include <utility>

namespace zklock::chaos {
namespace {

/// The first and the last value that was measured of each process.
std::map<int, std::pair<std::int64_t, std::int64_t>> first_and_last(const std::vector<Record>& records,
                                                                    const std::string& what) {
  std::map<int, std::pair<std::int64_t, std::int64_t>> all;
  for (const Record& each : records)
    if (each.event == Event::measured && each.reason == what)
      all.emplace(each.process, std::pair{each.number, each.number}).first->second.second = each.number;
  return all;
}

/// Goes by the majority of the servers: after a restart a server may have what the others, and its own log, do not have
/// (docs/reliability.md, what it has found).
std::vector<Violation> check_nothing_is_left(const Evidence& evidence, const std::string& what) {
  std::vector<std::int64_t> counts;
  for (const Record& each : evidence.faults)
    if (each.event == Event::measured && each.reason == what) counts.push_back(each.number);
  std::ranges::sort(counts);
  const std::int64_t count = counts.empty() ? 0 : counts[counts.size() / 2];
  if (count == 0) return {};
  return {Violation{.what = what + " is " + std::to_string(count) + " when all is over"}};
}

/// When the operation that made the node ended: when the lock was released, or its attempt had another outcome. 0:
/// never, or unknown.
std::int64_t end_of_operation(const Evidence& evidence, const Node& node) {
  if (const auto hold = evidence.holds.find(node.created); hold != evidence.holds.end())
    return hold->second.releasing_at;
  std::int64_t end = 0;
  for (const Attempt* each : evidence.makers_of(node)) end = std::max(end, evidence.end_of_nodes(*each));
  return end == INT64_MAX ? 0 : end;
}

/// Excuses what a 3.8.0 leader has carried out too late (docs/reliability.md, what it has found): after a later request
/// of the session, or when both the operation and its link had ended.
bool is_excused(const Evidence& evidence, const Node& node, std::int64_t end) {
  const std::int64_t before = end - evidence.bounds.session_timeout.count();
  const std::int64_t after = node.created_at + evidence.bounds.handoff.count();
  return node.came_late || (node.created_at > end && evidence.lost_link(evidence.process_of(node), {before, after}));
}

/// When the node was not to be there: from the operation's end on; where its client may keep it after another while,
/// and when another acquire stands behind it (or, of a permit, beside it).
std::vector<Interval> times_of_no_use(const Evidence& evidence, const Node& node, std::int64_t end) {
  if (!is_kept(node.directory)) return {{end}};
  std::vector<Interval> all{{end + std::chrono::microseconds{kept_for}.count()}};
  for (const Wanted& each : evidence.wanted_by(node.created))
    all.push_back({std::max(end, each.when.begin), each.when.end});
  return all;
}

/// Nodes that stay although no operation needs them. During a fault a delete may have to wait for its link.
std::vector<Violation> find_overstaying(const Evidence& evidence) {
  std::vector<Violation> found;
  for (const auto& [token, node] : evidence.history.nodes()) {
    const int process = evidence.process_of(node);
    const std::int64_t end = end_of_operation(evidence, node);
    if (process == 0 || end == 0 || node.end == Node::End::none) continue;
    const Interval life{node.created_at, std::min(node.removed_at, evidence.killed_at(process))};
    for (const Interval& each : times_of_no_use(evidence, node, end)) {
      const Interval stay{std::max(each.begin, life.begin), std::min(each.end, life.end)};
      const bool is_too_long = stay.end > stay.begin && evidence.is_too_long(process, stay);
      if (!is_too_long || is_excused(evidence, node, end)) continue;
      found.push_back(
          {"a node stays for " + std::to_string((stay.end - stay.begin) / 1'000) + " ms after its operation has ended",
           {token},
           process,
           0,
           stay.end});
      break;
    }
  }
  return found;
}

/// A server that has strayed may not answer the create of a node, nor show it when the client has connected again, which
/// then makes another one.
bool may_not_have_been_shown(const Evidence& evidence, const Node& node, const Node& twin) {
  return evidence.lost_link(evidence.process_of(twin), {node.created_at, twin.created_at}) &&
         std::ranges::any_of(times_of_strayed_servers(evidence), [&](const Interval& each) {
           return each.begin <= twin.created_at && twin.created_at <= each.end;
         });
}

std::vector<Violation> find_twins(const Evidence& evidence) {
  std::vector<Violation> found;
  for (const auto& [one, other] : evidence.history.twins()) {
    const Node* node = evidence.history.find(one);
    const Node* twin = evidence.history.find(other);
    const bool is_fine =
        node && twin && (evidence.is_twin_of_foreign_user(*node) || may_not_have_been_shown(evidence, *node, *twin));
    if (!is_fine) found.push_back({"one attempt has two nodes at once", {one, other}});
  }
  return found;
}

}  // namespace

std::vector<Violation> check_nodes(const Evidence& evidence) {
  std::vector<Violation> found = check_nothing_is_left(evidence, "zk_ephemerals_count");
  for (const auto& [token, node] : evidence.history.nodes())
    if (node.end == Node::End::none && !evidence.operators.contains(node.session))
      found.push_back({"a node is left", {token}});
  std::ranges::move(find_overstaying(evidence), std::back_inserter(found));
  std::ranges::move(find_twins(evidence), std::back_inserter(found));
  return found;
}

/// Curator makes another session when it has had no link for a session timeout, finds by it what it has made by the one
/// before, and takes that for its own. The other session may never come to make a node.
std::vector<Violation> check_deleters(const Evidence& evidence) {
  std::map<std::int64_t, int> processes;  // by their sessions, as far as those have made nodes, or reported themselves
  for (const auto& [session, trust] : evidence.trusts) processes.emplace(session, trust.process);
  for (const auto& [token, node] : evidence.history.nodes())
    if (const int process = evidence.process_of(node)) processes.emplace(node.session, process);
  std::vector<Violation> found;
  for (const auto& [token, node] : evidence.history.nodes()) {
    if (node.end != Node::End::by_another || evidence.operators.contains(node.remover)) continue;
    const int process = evidence.process_of(node);
    const auto remover = processes.find(node.remover);
    const bool may_be_its_own = remover == processes.end() || remover->second == process;
    if (!may_be_its_own || !evidence.foreign_users.contains(process))
      found.push_back({"a node was deleted by a session that had not made it", {token}});
  }
  return found;
}

std::vector<Violation> check_watches(const Evidence& evidence) {
  return check_nothing_is_left(evidence, "zk_watch_count");
}

std::vector<Violation> check_node_data(const Evidence& evidence) {
  static const std::regex form{"([^:]+):([1-9][0-9]*)"};
  std::vector<Violation> found;
  for (const DataWrite& each : evidence.history.writes()) {
    const Node* node = evidence.history.find(each.token);
    std::smatch before, after;
    const bool is_fine = node && each.session == node->session && std::regex_match(each.before, before, form) &&
                         std::regex_match(each.after, after, form) && before[1] == after[1];
    if (!is_fine && !evidence.operators.contains(each.session))
      found.push_back({"a node's data became '" + each.after + "'", {each.token}});
  }
  return found;
}

std::vector<Violation> check_resources(const Evidence& evidence) {
  std::vector<Violation> found;
  for (const char* what : {"descriptors", "threads"})
    for (const auto& [process, values] : first_and_last(evidence.users, what))
      if (evidence.drained.contains(process) && values.second > values.first)
        found.push_back({std::string{what} + " have grown from " + std::to_string(values.first) + " to " +
                             std::to_string(values.second),
                         {},
                         process});
  return found;
}

std::vector<Violation> check_retries(const Evidence& evidence) {
  std::vector<Violation> found;
  std::map<int, Record> last;
  std::int64_t requests = 0;
  for (const Record& each : evidence.faults) {
    if (each.event != Event::measured) continue;
    if (each.reason == "requests") requests = each.number;
    if (each.reason != "connections") continue;
    if (const auto before = last.find(each.process); before != last.end()) {
      const double seconds = std::max(1.0, static_cast<double>(each.at - before->second.at) / 1e6);
      const double made = static_cast<double>(each.number - before->second.number);
      if (made / seconds > static_cast<double>(evidence.bounds.connections_a_second))
        found.push_back(
            {std::to_string(each.number - before->second.number) + " connections in a second", {}, each.process});
    }
    last[each.process] = each;
  }
  const auto asked =
      std::ranges::count_if(evidence.users, [](const Record& each) { return each.event == Event::invoked; });
  if (static_cast<double>(requests) >
      evidence.bounds.requests_an_acquisition * static_cast<double>(std::max<std::int64_t>(asked, 1)))
    found.push_back({std::to_string(requests) + " requests for " + std::to_string(asked) + " acquires"});
  return found;
}

std::vector<Violation> check_isolation(const Evidence& evidence) {
  std::vector<Violation> found;
  for (const auto& [process, values] : first_and_last(evidence.users, "changes_of_the_host"))
    if (values.second != 0) found.push_back({"something of the process has changed that is not ours", {}, process});
  return found;
}

std::vector<Violation> check_loop(const Evidence& evidence) {
  constexpr std::chrono::milliseconds too_late{50};
  constexpr std::int64_t same_moment = 100'000;
  constexpr std::size_t hiccups = 3;  // of a machine that is shared with others; a library's come again and again
  std::vector<Violation> found;
  for (const Record& each : evidence.users) {
    if (each.event != Event::stalled) continue;
    const Interval when{each.at - each.token * 1'000 - same_moment, each.at};
    // The machine is the cause when a thread that has nothing to do oversleeps, or other processes stand still, too.
    const auto own = std::chrono::milliseconds{each.number} - evidence.lateness(when);
    const bool is_alone = std::ranges::none_of(evidence.users, [&](const Record& other) {
      return other.event == Event::stalled && other.process != each.process &&
             std::abs(other.at - each.at) < same_moment;
    });
    if (is_alone && evidence.stopped(each.process, when).count() == 0 && own > too_late)
      found.push_back(
          {"the I/O thread was late by " + std::to_string(each.number) + " ms", {}, each.process, 0, each.at});
  }
  if (found.size() <= hiccups) found.clear();
  return found;
}

}  // namespace zklock::chaos
