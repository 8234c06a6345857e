// I1 to I5: which client may hold a lock when, by the servers' transactions.
#include "judge.hpp"
#include "layout.hpp"
#include "register.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace zklock::chaos {
namespace {

/// Whether the other node is one of the same client that was released by the time of the grant. Its delete is on the
/// wire then, and its successor on the same session may go ahead.
bool is_released_local_waiter(const Evidence& evidence, const Node& own, std::int64_t other, std::int64_t granted_at) {
  const Node* ahead = evidence.history.find(other);
  if (!ahead || ahead->session != own.session) return false;
  if (const auto hold = evidence.holds.find(other); hold != evidence.holds.end())
    return hold->second.releasing_at != 0 && hold->second.releasing_at <= granted_at;
  if (own.place.kind == LockKind::permit) return false;
  // Never granted: it has left the wait queue. Its user may say so a little later, or never if its attempt starts over.
  const int process = evidence.process_of(own);
  const std::int64_t tolerance = evidence.bounds.tolerance.count();
  const std::int64_t limit = evidence.after_stops(process, granted_at, granted_at + tolerance, tolerance);
  const auto makers = evidence.makers_of(*ahead);
  const auto may_have_left = [&](const Attempt* each) { return each->kind == "several" || each->when.end <= limit; };
  return makers.empty() || std::ranges::any_of(makers, may_have_left) || evidence.killed_at(process) <= limit ||
         evidence.lost_link(process, {ahead->created_at, limit});
}

/// Whether a node belongs to the lock of that directory. A semaphore has "leases" in between.
bool belongs_to(const Node& node, const std::string& lock) {
  return node.directory == lock || node.directory == lock + "/leases";
}

std::int64_t ticks(std::chrono::microseconds time) { return time.count(); }

/// The time by which the user of the node has to be told that the node is gone. That is at once when the session has
/// timed out, since the lease had to end before, or when its candidate has given it up; otherwise it is when the user
/// can hear of it. A user whose release is under way has left, and hears of it by the reply.
std::int64_t latest_notice(const Evidence& evidence, const Node& node, int process, bool is_leaving = false) {
  const bool is_session_over = node.end == Node::End::with_session && !evidence.ended_sessions.contains(node.session);
  const bool by_its_time = !is_leaving && (is_session_over || evidence.is_given_up(node));
  const std::int64_t tolerance =
      ticks(evidence.bounds.tolerance) + (by_its_time ? 0 : ticks(evidence.bounds.session_timeout));
  const std::int64_t before = node.removed_at - ticks(evidence.bounds.session_timeout);
  return evidence.after_stops(process, before, node.removed_at + tolerance, tolerance);  // a stopped user hears it then
}

/// Whether one of two users that are inside together, but must not be, has an excuse. Either its session has ended, or
/// its candidate has lost the leadership, and the user has left, or was told, as soon as it could know; or an operator
/// has deleted its node. The session or the node must have ended by then.
bool is_excused(const Evidence& evidence, const Record& visit, std::int64_t together_at, std::int64_t left_at) {
  const Node* node = evidence.history.find(evidence.node_of(visit));
  if (!node || node->removed_at > together_at + ticks(evidence.bounds.clocks)) return false;
  if (node->end == Node::End::by_another) return true;
  if (node->end != Node::End::with_session && !evidence.is_given_up(*node)) return false;
  if (evidence.foreign_users.contains(visit.process)) return true;  // Curator and Kazoo tell no holder
  const auto hold = evidence.grants.find(evidence.grant_of(visit));
  std::int64_t gone_at = left_at;
  if (hold != evidence.grants.end() && hold->second.lost_at != 0) gone_at = std::min(gone_at, hold->second.lost_at);
  return gone_at <=
         std::max(together_at + ticks(evidence.bounds.tolerance), latest_notice(evidence, *node, visit.process));
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
    const auto owner = std::pair{each.process, is_kept_silent(each.lock) ? 0 : each.operation};
    if (const auto [at, is_new] = owners.emplace(evidence.node_of(each), owner); !is_new && at->second != owner)
      found.push_back({"two have the same token", {each.token}, each.process, each.operation});
  }
  for (const Record& each : evidence.visits) {
    if (each.event == Event::entered && !registers[each.lock].accept(each.token, Share{static_cast<int>(each.number)}))
      found.push_back({"the register has let in an old token", {each.token}, each.process, each.operation});
    const Node* node = evidence.history.find(evidence.node_of(each));
    const bool was_taken = node && (node->end == Node::End::with_session || node->end == Node::End::by_another);
    const bool was_given_up =
        node && evidence.is_given_up(*node) && node->removed_at <= each.at + ticks(evidence.bounds.clocks);
    if (each.event == Event::turned_away && !was_taken && !was_given_up)
      found.push_back({"a holder had an older token than one before it", {each.token}, each.process, each.operation});
  }
  return found;
}

std::vector<Violation> check_overlaps(const Evidence& evidence) {
  using Visit = std::tuple<std::int64_t, int, std::int64_t>;  // a token alone may be that of several silent grants
  const auto visit_of = [](const Record& each) { return Visit{each.token, each.process, each.operation}; };
  std::map<Visit, std::int64_t> left;
  for (const Record& each : evidence.visits)
    if (each.event == Event::left) left[visit_of(each)] = each.at;
  const auto left_at = [&](const Record& visit) {
    const auto at = left.find(visit_of(visit));
    return at == left.end() ? INT64_MAX : at->second;
  };

  std::vector<Violation> found;
  std::map<std::string, std::map<Visit, Record>> rooms;
  for (const Record& each : evidence.visits) {
    auto& room = rooms[each.lock];
    if (each.event == Event::left) room.erase(visit_of(each));
    if (each.event != Event::entered) continue;
    const auto is_alone = [](const Record& visit) { return Share{static_cast<int>(visit.number)} == Share::alone; };
    const bool is_permit = Share{static_cast<int>(each.number)} == Share::permit;
    const std::size_t fine = is_permit ? permits_of(each.lock) : 1;
    std::vector<std::int64_t> tokens;  // of the users that are inside rightly, or without an excuse
    const auto count = [&](const Record& visit) {
      if (!is_excused(evidence, visit, each.at, left_at(visit))) tokens.push_back(visit.token);
    };
    if (!is_permit || room.size() >= fine) count(each);
    if (!tokens.empty())
      for (const auto& [key, other] : room) {
        const bool same_user = other.process == each.process && other.operation == each.operation;
        if (is_permit || (!same_user && (is_alone(each) || is_alone(other)))) count(other);
      }
    if (tokens.size() > fine)
      found.push_back({"several are inside at once, without an excuse", tokens, each.process, each.operation});
    room[visit_of(each)] = each;
  }
  return found;
}

std::vector<Violation> check_grants(const Evidence& evidence) {
  std::vector<Violation> found;
  std::set<std::int64_t> guilty;
  const auto judge = [&](const Node& node, const std::vector<std::int64_t>& against, const char* what) {
    const auto hold = evidence.holds.find(node.created);
    const std::int64_t granted_at = hold == evidence.holds.end() ? evidence.ends_at : hold->second.granted.at;
    std::vector<std::int64_t> tokens{node.created};
    for (const std::int64_t other : against)
      if (!is_released_local_waiter(evidence, node, other, granted_at)) tokens.push_back(other);
    const std::size_t fine = node.place.kind == LockKind::permit ? permits_of(node.directory) : 1;
    const bool is_new = tokens.size() > fine && guilty.insert(node.created).second;  // its user may mark it often
    if (is_new) found.push_back({what, std::move(tokens)});
  };
  for (const Mark& mark : evidence.history.marks())
    if (const Node* node = evidence.history.find(mark.token))
      judge(*node, mark.against, "a lock was held while others ought to have kept its holder out");
  for (const auto& [token, hold] : evidence.holds) {
    const Node* node = evidence.history.find(token);
    if (!node || node->place.kind == LockKind::permit) continue;
    const std::int64_t at = hold.granted.at + ticks(evidence.bounds.clocks);
    // A waiter whose node an operator has deleted may be granted the lock without another look at the wait queue. It
    // hears of the delete then (docs/guarantees.md).
    const bool was_deleted = node->end == Node::End::by_another && node->removed_at <= at;
    if (!was_deleted)
      judge(*node, evidence.history.blocked_by(*node, at),
            "a lock was granted to one who was not first in the queue yet");
  }
  return found;
}

std::vector<Violation> check_losses(const Evidence& evidence) {
  std::vector<Violation> found;
  for (const auto& [key, hold] : evidence.grants) {
    const std::int64_t token = std::get<2>(key);
    const Node* node = evidence.history.find(token);
    if (!node || node->end == Node::End::none) continue;
    if (node->end == Node::End::by_owner && !evidence.is_given_up(*node)) continue;
    const int process = hold.granted.process;
    // The release of a kept lock asks no server: it is given back within the call, though its user may be stopped then.
    const std::int64_t given_back_at = is_kept(node->directory) ? hold.releasing_at : hold.released_at;
    const bool gave_back_before = given_back_at != 0 && given_back_at <= node->removed_at;
    // If the reply to the delete was lost with the link, it is unknown whose delete it was.
    const bool is_unknown = node->end == Node::End::by_another && hold.left_at != 0 &&
                            evidence.lost_link(process, {hold.left_at, hold.released_at});
    // What others have done to the node of a kept lock, or to its session, the release hears later.
    const bool by_others = node->end == Node::End::by_another || evidence.ended_sessions.contains(node->session);
    const bool is_unheard =
        is_kept(node->directory) && by_others && !evidence.is_too_long(process, {node->removed_at, hold.released_at});
    if (hold.released_with == "ok" && !gave_back_before && !is_unknown && !is_unheard)
      found.push_back({"a release of what was lost has succeeded", {token}, process, hold.granted.operation});
    if (hold.listens_at == 0 || hold.listens_at > node->removed_at || gave_back_before) continue;
    std::int64_t told = hold.lost_at != 0 ? hold.lost_at : INT64_MAX;
    if (hold.released_at != 0) told = std::min(told, hold.released_at);
    const bool is_leaving = hold.releasing_at != 0 && hold.releasing_at <= node->removed_at;
    const std::int64_t limit = latest_notice(evidence, *node, process, is_leaving);
    if (told > limit && evidence.killed_at(process) > limit)
      found.push_back({told == INT64_MAX
                           ? "nobody was told that a lock was lost"
                           : "that a lock was lost was told " + std::to_string((told - limit) / 1'000) + " ms too late",
                       {token},
                       process,
                       hold.granted.operation});
  }
  return found;
}

namespace {

/// Without asking the servers a client may grant a kept lock to itself only until it can know that another one waits;
/// to readers, that a writer waits, of any client; and then to some of its acquires that waited by then. The first grant
/// of a node is by the wait queue.
std::vector<Violation> find_greedy_keepers(const Evidence& evidence) {
  std::vector<Violation> found;
  std::map<std::pair<int, std::int64_t>, std::int64_t> invoked;
  std::set<std::int64_t> granted;
  std::map<std::int64_t, int> hand_overs;  // by nodes
  for (const Record& each : evidence.users) {
    if (each.event == Event::invoked) invoked[{each.process, each.operation}] = each.at;
    if (each.event != Event::granted || granted.insert(each.token).second) continue;
    const Node* node = evidence.history.find(each.token);
    if (!node || !is_kept_silent(node->directory)) continue;
    const bool reads = node->place.kind == LockKind::read;
    const auto is_too_late = [&](std::int64_t at) {
      return std::ranges::any_of(evidence.wanted_by(each.token), [&](const Wanted& wanted) {
        return (reads || wanted.by_another) && wanted.when.begin < at && at <= wanted.when.end &&
               evidence.is_too_long(each.process, {wanted.when.begin, at});
      });
    };
    if (!is_too_late(each.at)) continue;
    const int may_go_ahead = reads ? 0 : hand_overs_of(each.lock);
    const bool has_waited = !is_too_late(invoked[{each.process, each.operation}]);
    if (!has_waited || ++hand_overs[each.token] > may_go_ahead)
      found.push_back({"a client has granted itself a kept lock again though another one waited",
                       {each.token},
                       each.process,
                       each.operation,
                       each.at});
  }
  return found;
}

}  // namespace

std::vector<Violation> check_order(const Evidence& evidence) {
  std::vector<Violation> found = find_greedy_keepers(evidence);
  std::map<std::pair<std::string, std::int64_t>, std::vector<const Node*>> served;
  for (const Mark& mark : evidence.history.marks()) {
    const Node* node = evidence.history.find(mark.token);
    if (!node || node->place.kind == LockKind::permit) continue;
    auto& before = served[{node->directory, node->incarnation}];
    // Most marks are in order: the last 64 are enough to find a node that was overtaken.
    for (auto other = before.rbegin(); other != before.rend() && other - before.rbegin() < 64; ++other) {
      const bool both_read = (*other)->place.kind == LockKind::read && node->place.kind == LockKind::read;
      if (both_read || (*other)->place.sequence <= node->place.sequence) continue;
      found.push_back({"somebody was overtaken in the queue", {node->created, (*other)->created}});
      break;
    }
    before.push_back(node);
  }
  return found;
}

}  // namespace zklock::chaos
