// I1 to I5: who may hold a lock when, by the servers' transactions.
#include "judge.hpp"
#include "layout.hpp"
#include "register.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace zklock::chaos {
namespace {

/// Of the same client, and given back: its delete is on the wire, and whoever follows it on the same session may go
/// ahead.
bool is_released_sibling(const Evidence& evidence, const Node& own, std::int64_t other) {
  const Node* ahead = evidence.history.find(other);
  const auto hold = evidence.holds.find(other);
  if (!ahead || ahead->session != own.session) return false;
  if (hold == evidence.holds.end()) return own.place.kind != LockKind::permit;  // never granted: it has left the line
  return hold->second.released_at != 0;
}

/// The directory of the lock that a node belongs to: a semaphore's has "leases" in between.
bool belongs_to(const Node& node, const std::string& lock) {
  return node.line == lock || node.line == lock + "/leases";
}

std::int64_t ticks(std::chrono::microseconds time) { return time.count(); }

/// Until when the user of the node has to be told that the node is gone: at once when its time has run out, since the
/// lease's had to run out before; else when it can hear of it.
std::int64_t latest_news(const Evidence& evidence, const Node& node, int process) {
  const bool by_its_time = node.end == Node::End::with_session && !evidence.ended_sessions.contains(node.session);
  const std::int64_t patience =
      ticks(evidence.bounds.tolerance) + (by_its_time ? 0 : ticks(evidence.bounds.session_timeout));
  const std::int64_t before = node.removed_at - ticks(evidence.bounds.session_timeout);
  std::int64_t limit = node.removed_at + patience;
  if (const auto stops = evidence.stops.find(process); stops != evidence.stops.end())
    for (const Interval& each : stops->second)  // who is stopped hears it afterwards
      if (each.begin <= limit && each.end >= before && each.end != INT64_MAX)
        limit = std::max(limit, each.end + patience);
  return limit;
}

/// Two are inside who must not be: whether one of them has an excuse. Its session has ended, and it has left, or was
/// told, as soon as it could know; or an operator has deleted its node.
bool is_excused(const Evidence& evidence, const Record& visit, std::int64_t together_at, std::int64_t left_at) {
  const Node* node = evidence.history.find(evidence.node_of(visit));
  if (!node) return false;
  if (node->end == Node::End::by_another) return true;
  if (node->end != Node::End::with_session) return false;
  const auto hold = evidence.holds.find(node->created);
  std::int64_t gone_at = left_at;
  if (hold != evidence.holds.end() && hold->second.lost_at != 0) gone_at = std::min(gone_at, hold->second.lost_at);
  return gone_at <=
         std::max(together_at + ticks(evidence.bounds.tolerance), latest_news(evidence, *node, visit.process));
}

}  // namespace

std::vector<Violation> check_fenced_exclusion(const Evidence& evidence) {
  std::vector<Violation> found;
  for (const auto& [token, hold] : evidence.holds) {
    const Node* node = evidence.history.find(token);
    if (!node || !belongs_to(*node, hold.granted.lock))
      found.push_back({"a token is not the transaction that made a node of the lock",
                       {token},
                       hold.granted.process,
                       hold.granted.operation});
  }
  std::map<std::int64_t, std::pair<int, std::int64_t>> owners;
  std::map<std::string, TokenRegister> registers;
  for (const Record& each : evidence.users) {
    if (each.event != Event::granted) continue;
    const auto owner = std::pair{each.process, each.operation};
    if (const auto [at, is_new] = owners.emplace(evidence.node_of(each), owner); !is_new && at->second != owner)
      found.push_back({"two have the same token", {each.token}, each.process, each.operation});
  }
  for (const Record& each : evidence.visits) {
    if (each.event == Event::entered && !registers[each.lock].accept(each.token, Share{static_cast<int>(each.number)}))
      found.push_back({"the register has let in an old token", {each.token}, each.process, each.operation});
    const Node* node = evidence.history.find(evidence.node_of(each));
    if (each.event == Event::turned_away && (!node || node->end == Node::End::none || node->end == Node::End::by_owner))
      found.push_back({"a holder had an older token than one before it", {each.token}, each.process, each.operation});
  }
  return found;
}

std::vector<Violation> check_overlaps(const Evidence& evidence) {
  std::map<std::int64_t, std::int64_t> left;
  for (const Record& each : evidence.visits)
    if (each.event == Event::left) left[each.token] = each.at;
  const auto left_at = [&](std::int64_t token) { return left.contains(token) ? left.at(token) : INT64_MAX; };

  std::vector<Violation> found;
  std::map<std::string, std::map<std::int64_t, Record>> rooms;
  for (const Record& each : evidence.visits) {
    auto& room = rooms[each.lock];
    if (each.event == Event::left) room.erase(each.token);
    if (each.event != Event::entered) continue;
    const auto is_alone = [](const Record& visit) { return Share{static_cast<int>(visit.number)} == Share::alone; };
    const bool is_permit = Share{static_cast<int>(each.number)} == Share::permit;
    const bool is_full = is_permit && room.size() >= permits;
    std::vector<std::int64_t> tokens{each.token};
    bool excused = is_excused(evidence, each, each.at, left_at(each.token));
    for (const auto& [token, other] : room) {
      const bool same_user = other.process == each.process && other.operation == each.operation;
      const bool conflict = is_permit ? is_full : (is_alone(each) || is_alone(other));
      if (!conflict || (same_user && !is_permit)) continue;
      const bool explains = is_excused(evidence, other, each.at, left_at(token));
      if (is_permit && explains) excused = true;  // one too many, and one who may be
      if (is_permit || !explains) tokens.push_back(token);
    }
    if (tokens.size() > 1 && !excused)
      found.push_back({"several are inside at once, without an excuse", tokens, each.process, each.operation});
    room[each.token] = each;
  }
  return found;
}

std::vector<Violation> check_grants(const Evidence& evidence) {
  std::vector<Violation> found;
  const auto judge = [&](const Node& node, const std::vector<std::int64_t>& against, const char* what) {
    std::vector<std::int64_t> tokens{node.created};
    for (const std::int64_t other : against)
      if (!is_released_sibling(evidence, node, other)) tokens.push_back(other);
    const bool is_permit = node.place.kind == LockKind::permit;
    const std::size_t fine = !is_permit ? 1 : node.line.find("single") != std::string::npos ? 1 : permits;
    if (tokens.size() > fine) found.push_back({what, std::move(tokens)});
  };
  for (const Mark& mark : evidence.history.marks())
    if (const Node* node = evidence.history.find(mark.token))
      judge(*node, mark.against, "a lock was held while others ought to have kept its holder out");
  for (const auto& [token, hold] : evidence.holds) {
    const Node* node = evidence.history.find(token);
    // Whose node an operator has deleted while it waited may be granted the lock without another look at the line, and
    // hears of it then (docs/guarantees.md).
    const bool was_deleted = node && node->end == Node::End::by_another;
    if (node && !was_deleted && node->place.kind != LockKind::permit && node->became_first_at < 0)
      judge(*node, node->kept_out_by, "a lock was granted to one who was never first in line");
  }
  return found;
}

std::vector<Violation> check_losses(const Evidence& evidence) {
  std::vector<Violation> found;
  for (const auto& [token, hold] : evidence.holds) {
    const Node* node = evidence.history.find(token);
    if (!node || node->end == Node::End::none || node->end == Node::End::by_owner) continue;
    const int process = hold.granted.process;
    const bool gave_back_before = hold.released_at != 0 && hold.released_at <= node->removed_at;
    // If the answer to the delete was lost with the link, nobody can tell whose delete it was.
    const bool is_unknown = node->end == Node::End::by_another && hold.left_at != 0 &&
                            evidence.lost_link(process, {hold.left_at, hold.released_at});
    if (hold.released_with == "ok" && !gave_back_before && !is_unknown)
      found.push_back({"a release of what was lost has succeeded", {token}, process, hold.granted.operation});
    if (hold.listens_at == 0 || hold.listens_at > node->removed_at || gave_back_before) continue;
    std::int64_t told = hold.lost_at != 0 ? hold.lost_at : INT64_MAX;
    if (hold.released_at != 0) told = std::min(told, hold.released_at);
    const std::int64_t limit = latest_news(evidence, *node, process);
    const auto death = evidence.killed.find(process);
    if (told > limit && !(death != evidence.killed.end() && death->second <= limit))
      found.push_back({told == INT64_MAX
                           ? "nobody was told that a lock was lost"
                           : "that a lock was lost was told " + std::to_string((told - limit) / 1'000) + " ms too late",
                       {token},
                       process,
                       hold.granted.operation});
  }
  return found;
}

std::vector<Violation> check_order(const Evidence& evidence) {
  std::vector<Violation> found;
  std::map<std::pair<std::string, std::int64_t>, std::vector<const Node*>> served;
  for (const Mark& mark : evidence.history.marks()) {
    const Node* node = evidence.history.find(mark.token);
    if (!node || node->place.kind == LockKind::permit) continue;
    auto& before = served[{node->line, node->incarnation}];
    // Most are in order: the last of each kind are enough to see who is not.
    for (auto other = before.rbegin(); other != before.rend() && other - before.rbegin() < 64; ++other) {
      const bool both_read = (*other)->place.kind == LockKind::read && node->place.kind == LockKind::read;
      if (both_read || (*other)->place.sequence <= node->place.sequence) continue;
      found.push_back({"somebody was overtaken in line", {node->created, (*other)->created}});
      break;
    }
    before.push_back(node);
  }
  return found;
}

}  // namespace zklock::chaos
