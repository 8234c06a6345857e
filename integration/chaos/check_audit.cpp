// I17: the audit logs, compared with the servers' log, with the metrics and with what the users say.
#include "judge.hpp"
#include "layout.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace zklock::chaos {
namespace {

using Kind = AuditRecord::Kind;

/// A node may be granted again and again where its client keeps it.
std::string grant_of(const AuditRecord& record) {
  return is_kept(record.node) ? record.node + " " + std::to_string(record.attempt) : record.node;
}

/// What one process has recorded, by grants: one of a node, but of kept ones.
struct Trail {
  std::map<std::string, std::vector<AuditRecord>> grants{};
  std::map<std::string, std::vector<AuditRecord>> ends{};  ///< releases and losses
  std::set<std::int64_t> sequences{};
  std::int64_t dropped = 0;
};

bool has_audit_log(const Evidence& evidence, int process) {
  return !evidence.foreign_users.contains(process) && !evidence.unheard.contains(process);
}

std::map<int, Trail> trails_of(const Evidence& evidence) {
  std::map<int, Trail> trails;
  for (const int process : evidence.drained)
    if (has_audit_log(evidence, process)) trails[process];  // a process without a record, too
  for (const AuditRecord& each : evidence.audit) {
    Trail& trail = trails[each.process];
    trail.sequences.insert(each.sequence);
    trail.dropped += each.dropped;
    if (each.kind == Kind::granted) trail.grants[grant_of(each)].push_back(each);
    if (each.kind == Kind::released || each.kind == Kind::lost) trail.ends[grant_of(each)].push_back(each);
  }
  return trails;
}

class AuditCheck {
 public:
  explicit AuditCheck(const Evidence& evidence) : evidence_{evidence}, trails_{trails_of(evidence)} {
    for (const auto& [token, node] : evidence.history.nodes()) nodes_[node.path] = &node;
    for (const auto& [key, hold] : evidence.grants)
      if (const std::int64_t token = std::get<2>(key); is_shared(token)) readers_[token].push_back(&hold);
  }

  std::vector<Violation> run() {
    for (const auto& [process, trail] : trails_) {
      count(process, trail);
      compare_with_metrics(process, trail);
      for (const auto& [grant, grants] : trail.grants) check_grant(trail, grants);
      for (const auto& [grant, ends] : trail.ends) check_end(trail, ends);
    }
    for (const auto& [token, hold] : evidence_.holds) is_shared(token) ? check_readers(token) : check_hold(token, hold);
    return std::move(found_);
  }

 private:
  /// Those that a process writes until it has drained are complete. One that was killed lacks the last ones.
  [[nodiscard]] bool is_complete(int process) const {
    return evidence_.drained.contains(process) && has_audit_log(evidence_, process);
  }

  /// Null: the servers have not made it.
  [[nodiscard]] const Node* node_of(const AuditRecord& record) const {
    if (is_kept(record.node)) {
      const Node* node = evidence_.history.find(record.token);
      return node != nullptr && node->path == record.node ? node : nullptr;
    }
    const auto node = nodes_.find(record.node);
    return node == nodes_.end() ? nullptr : node->second;
  }

  void add(std::string what, const AuditRecord& record) {
    const Node* node = node_of(record);
    found_.push_back(
        {what + ": " + record.node, {node == nullptr ? record.token : node->created}, record.process, 0, record.at});
  }

  void count(int process, const Trail& trail) {
    if (trail.sequences.empty()) return;
    const auto missing = *trail.sequences.rbegin() - static_cast<std::int64_t>(trail.sequences.size());
    if (missing != trail.dropped && is_complete(process))
      found_.push_back(
          {"an audit log lacks " + std::to_string(missing) + " records, and says " + std::to_string(trail.dropped),
           {},
           process});
  }

  void compare_with_metrics(int process, const Trail& trail) {
    if (!is_complete(process) || trail.dropped > 0) return;
    std::int64_t recorded = 0;
    for (const auto& [node, ends] : trail.ends) recorded += static_cast<std::int64_t>(ends.size());
    std::optional<std::int64_t> counted;
    for (const Record& each : evidence_.users)
      if (each.event == Event::measured && each.reason == "ends_by_metrics" && each.process == process)
        counted = each.number;
    if (counted != recorded)
      found_.push_back({"metrics count " + (counted ? std::to_string(*counted) : "no") +
                            " ends of grants, the audit log " + std::to_string(recorded),
                        {},
                        process});
  }

  void check_grant(const Trail& trail, const std::vector<AuditRecord>& grants) {
    const AuditRecord& grant = grants.front();
    if (grants.size() > 1) add("a grant was recorded " + std::to_string(grants.size()) + " times", grant);
    const Node* node = node_of(grant);
    if (node == nullptr) return add("the grant of a node that the servers have not made was recorded", grant);
    if (node->session != grant.session || evidence_.process_of(*node) != grant.process)
      add("a grant was recorded of another client's node", grant);
    if (!has_its_token(grant, *node)) add("a grant was recorded with a wrong token", grant);
    if (!trail.ends.contains(grant_of(grant)) && is_complete(grant.process) && trail.dropped == 0)
      add("the end of a grant was not recorded", grant);
  }

  /// A writer that goes on as a reader keeps its token.
  [[nodiscard]] bool has_its_token(const AuditRecord& record, const Node& node) const {
    if (record.token == node.created) return true;
    const Node* reader = evidence_.history.beside(record.token);
    return reader != nullptr && reader->created == node.created;
  }

  void check_end(const Trail& trail, const std::vector<AuditRecord>& ends) {
    const AuditRecord& end = ends.front();
    if (ends.size() > 1) add("the end of a grant was recorded " + std::to_string(ends.size()) + " times", end);
    if (const Node* node = node_of(end)) check_by_servers(end, *node);
    const auto grants = trail.grants.find(grant_of(end));
    if (grants == trail.grants.end()) {
      if (trail.dropped == 0) add("an end was recorded, and no grant", end);
      return;
    }
    const AuditRecord& grant = grants->second.front();
    if (grant.token != end.token || grant.attempt != end.attempt || grant.sequence > end.sequence)
      add("an end was recorded that does not fit its grant", end);
  }

  /// What the servers' log says of it.
  void check_by_servers(const AuditRecord& end, const Node& node) {
    if (end.kind == Kind::released && !is_released(end, node))
      add(node.end == Node::End::none ? "a release was recorded of a node that the servers still have"
                                      : "a release was recorded of a node that another has deleted",
          end);
    if (end.kind == Kind::lost && !is_lost(end, node))
      add("a loss was recorded of a lock that no client could take yet", end);
  }

  /// If the reply to the delete was lost with the link, it is unknown whose delete it was. A release that waits for a
  /// link may be recorded before it is carried out.
  [[nodiscard]] bool is_released(const AuditRecord& end, const Node& node) const {
    if (node.end != Node::End::by_another) return node.end != Node::End::none;
    if (is_kept(node.directory) && !evidence_.is_too_long(end.process, {node.removed_at, end.at})) return true;
    const auto hold = evidence_.holds.find(node.created);
    const bool is_known = hold != evidence_.holds.end() && hold->second.left_at != 0;
    const std::int64_t from =
        is_known ? hold->second.left_at : node.removed_at - evidence_.bounds.troubled_handoff.count();
    return node.removed_at > end.at || evidence_.lost_link(end.process, {from, end.at});
  }

  /// The session or the node has ended by then; or the client had a reason to fear it.
  [[nodiscard]] bool is_lost(const AuditRecord& end, const Node& node) const {
    const bool was_taken = node.end == Node::End::with_session || node.end == Node::End::by_another;
    if (was_taken && node.removed_at <= end.at + evidence_.bounds.clocks.count()) return true;
    if (end.cause == "closed") return node.end == Node::End::with_session;
    if (end.cause == "node_deleted") return had_void_handoff(end, node);
    const Interval before{end.at - evidence_.bounds.session_timeout.count(), end.at};
    return !evidence_.is_quiet(before, end.process) || evidence_.lost_link(end.process, before) ||
           evidence_.lateness(before) > evidence_.bounds.tolerance;
  }

  /// Whether an earlier node of its client there was deleted by another: its lock was handed off all the same.
  [[nodiscard]] bool had_void_handoff(const AuditRecord& end, const Node& node) const {
    return std::ranges::any_of(evidence_.history.nodes(), [&](const auto& each) {
      const Node& other = each.second;
      return other.session == node.session && other.directory == node.directory && other.created != node.created &&
             other.end == Node::End::by_another && other.removed_at <= end.at;
    });
  }

  /// What the user says of it.
  void check_hold(std::int64_t token, const Hold& hold) {
    const int process = hold.granted.process;
    const Node* node = evidence_.history.find(token);
    if (node == nullptr || !is_complete(process)) return;
    const Trail& trail = trails_.at(process);
    if (trail.dropped > 0) return;
    AuditRecord record{.process = process, .at = hold.granted.at, .token = token, .node = node->path};
    const AuditRecord* grant = last_of(trail.grants, record);
    if (grant == nullptr) return add("a grant was not recorded", record);
    const AuditRecord* end = last_of(trail.ends, *grant);
    if (end == nullptr) return;  // reported above
    const bool is_lost = end->kind == Kind::lost;
    record.at = end->at;
    // A lease may be lost by its time while its release is under way, and the release may succeed all the same.
    const bool lost_before_release = is_lost && (hold.releasing_at == 0 || record.at < hold.releasing_at);
    if (hold.released_with == "ok" && lost_before_release)
      add("a loss was recorded of what its user has released", record);
    const bool saw_loss = hold.lost_at != 0 && (hold.releasing_at == 0 || hold.lost_at < hold.releasing_at);
    if (saw_loss && !is_lost) add("a release was recorded of what its user knew to be lost", record);
  }

  /// Whether several readers may have that node at once.
  [[nodiscard]] bool is_shared(std::int64_t token) const {
    const Node* node = evidence_.history.find(token);
    return node != nullptr && is_kept(node->directory) && node->place.kind == LockKind::read;
  }

  /// What the users of a node that several readers may have say of it: the records do not tell whose they are, so they
  /// are counted.
  void check_readers(std::int64_t token) {
    const std::vector<const Hold*>& users = readers_.at(token);
    const int process = users.front()->granted.process;
    if (!is_complete(process)) return;
    const Trail& trail = trails_.at(process);
    if (trail.dropped > 0) return;
    const Node& node = *evidence_.history.find(token);
    const AuditRecord record{.process = process, .at = users.back()->granted.at, .token = token, .node = node.path};
    const auto count = [&](const std::map<std::string, std::vector<AuditRecord>>& records, auto is_counted) {
      std::ptrdiff_t number = 0;
      const std::string of_node = node.path + " ";
      for (auto each = records.lower_bound(of_node); each != records.end() && each->first.starts_with(of_node); ++each)
        number += std::ranges::count_if(each->second, is_counted);
      return number;
    };
    const auto is_any = [&](const AuditRecord& each) { return each.token == token; };
    const auto is_loss = [&](const AuditRecord& each) { return each.token == token && each.kind == Kind::lost; };
    if (count(trail.grants, is_any) < std::ssize(users)) add("a grant to a reader was not recorded", record);
    const auto saw_loss = [&](const Hold* each) {
      const bool did = each->lost_at != 0 && (each->releasing_at == 0 || each->lost_at < each->releasing_at);
      return did && !may_be_unheard(node, *each);
    };
    if (count(trail.ends, is_loss) < std::ranges::count_if(users, saw_loss))
      add("a release was recorded of what a reader knew to be lost", record);
  }

  /// A release asks no server: what an operator has deleted, the client may hear of a little later.
  [[nodiscard]] bool may_be_unheard(const Node& node, const Hold& hold) const {
    return node.end == Node::End::by_another &&
           !evidence_.is_too_long(hold.granted.process, {node.removed_at, hold.released_at});
  }

  /// The record of that grant: of a kept node the last one with its token, whose user the hold is about.
  static const AuditRecord* last_of(const std::map<std::string, std::vector<AuditRecord>>& records,
                                    const AuditRecord& record) {
    if (record.attempt != 0 || !is_kept(record.node)) {
      const auto found = records.find(grant_of(record));
      return found == records.end() ? nullptr : &found->second.front();
    }
    const AuditRecord* last = nullptr;
    const std::string of_node = record.node + " ";
    for (auto each = records.lower_bound(of_node); each != records.end() && each->first.starts_with(of_node); ++each) {
      const AuditRecord& candidate = each->second.front();
      if (candidate.token == record.token && (last == nullptr || candidate.sequence > last->sequence))
        last = &candidate;
    }
    return last;
  }

  const Evidence& evidence_;
  std::map<int, Trail> trails_;
  std::map<std::string, const Node*> nodes_;
  std::map<std::int64_t, std::vector<const Hold*>> readers_;  // of the nodes that several may have
  std::vector<Violation> found_;
};

}  // namespace

std::vector<Violation> check_audit(const Evidence& evidence) { return AuditCheck{evidence}.run(); }

}  // namespace zklock::chaos
