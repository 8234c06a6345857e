#include "history.hpp"

#include "layout.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace zklock::chaos {
namespace {

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }
std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// What all nodes of one attempt begin with: "_c_<uuid>-", or 32 digits by Kazoo. Empty when there is no such prefix.
std::string protection_of(const std::string& path) {
  constexpr std::size_t length_of_kazoos = 32;
  const std::string name = name_of(path);
  if (name.starts_with("_c_")) return name.substr(0, 40);
  const bool is_kazoos = name.find_first_not_of("0123456789abcdef") == length_of_kazoos;
  return is_kazoos ? name.substr(0, length_of_kazoos) : std::string{};
}

/// Does what parse_lock_node does, but on its own: the judge believes nothing that the library says.
std::optional<LockNode> place_of(const std::string& path) {
  constexpr std::size_t digits = 10;
  constexpr std::array<std::pair<std::string_view, LockKind>, 6> markers{{{"lock-", LockKind::mutex},
                                                                          {"__lock__", LockKind::mutex},
                                                                          {"__READ__", LockKind::read},
                                                                          {"__WRIT__", LockKind::write},
                                                                          {"lease-", LockKind::permit},
                                                                          {"latch-", LockKind::latch}}};
  const std::string name = name_of(path);
  if (name.size() < digits) return std::nullopt;
  const std::string number = name.substr(name.size() - digits);
  if (number.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  for (const auto& [marker, kind] : markers)
    if (name.substr(0, name.size() - digits).ends_with(marker))
      return LockNode{kind, static_cast<std::int32_t>(std::stol(number))};
  return std::nullopt;
}

/// Of two nodes in one wait queue. A reader has the number of the writer that it is beside.
bool is_blocked_by(const LockNode& behind, const LockNode& ahead) {
  const auto is_read_or_write = [](LockKind kind) { return kind == LockKind::read || kind == LockKind::write; };
  const bool is_one_queue =
      behind.kind == ahead.kind || (is_read_or_write(behind.kind) && is_read_or_write(ahead.kind));
  if (!is_one_queue || ahead.sequence >= behind.sequence) return false;
  return ahead.kind != LockKind::read || behind.kind != LockKind::read;
}

}  // namespace

History::History(const std::vector<ServerTransaction>& transactions) {
  for (const ServerTransaction& each : transactions) apply(each);
}

const Node* History::find(std::int64_t token) const {
  const auto found = nodes_.find(token);
  return found == nodes_.end() ? nullptr : &found->second;
}

const Node* History::beside(std::int64_t writer) const {
  const Node* ahead = find(writer);
  if (!ahead || ahead->place.kind != LockKind::write) return nullptr;
  for (auto each = nodes_.upper_bound(writer); each != nodes_.end(); ++each) {
    const Node& node = each->second;
    if (ahead->removed != 0 && node.created > ahead->removed) break;
    const bool is_it = node.directory == ahead->directory && node.session == ahead->session &&
                       node.place == LockNode{LockKind::read, ahead->place.sequence};
    if (is_it) return &node;
  }
  return nullptr;
}

bool History::is_out_of_order(const ServerTransaction& transaction) {
  auto& last = last_requests_[transaction.session];
  const bool came_late = transaction.request != 0 && transaction.request < last;
  last = std::max(last, transaction.request);
  return came_late;
}

void History::apply(const ServerTransaction& transaction) {
  if (transaction.closes_session) {
    ended_sessions_[transaction.session] = {transaction.at, transaction.request == 0};
    const auto mine = ephemerals_.extract(transaction.session);
    if (mine)
      for (const std::string& path : mine.mapped()) remove(transaction, path);
    return;
  }
  const bool came_late = is_out_of_order(transaction);
  const auto& changes = transaction.changes;
  const bool is_mark =
      changes.size() == 2 && changes.front().kind == Change::Kind::check && changes.back().path == chaos::marks;
  if (is_mark) return mark(transaction, changes.front().path);
  for (const Change& change : changes) {
    if (change.kind == Change::Kind::create) create(transaction, change, came_late);
    if (change.kind == Change::Kind::remove) remove(transaction, change.path);
    if (change.kind == Change::Kind::set_data) set_data(transaction, change);
  }
}

void History::create(const ServerTransaction& transaction, const Change& change, bool came_late) {
  const auto place = place_of(change.path);
  const std::string directory = parent_of(change.path);
  if (!place || !directory.starts_with(locks)) {
    parents_[change.path] = transaction.zxid;
    return;
  }
  if (change.is_ephemeral) ephemerals_[transaction.session].push_back(change.path);
  Node node{.path = change.path,
            .directory = directory,
            .incarnation = parents_[directory],
            .place = *place,
            .client = change.data.substr(0, change.data.find(':')),
            .session = transaction.session,
            .created = transaction.zxid,
            .created_at = transaction.at,
            .came_late = came_late};
  if (const std::string own = protection_of(change.path); !own.empty() && !came_late)
    for (const auto& [path, other] : queues_[directory])
      if (protection_of(path) == own) twins_.emplace_back(other.token, node.created);
  queues_[directory][change.path] = {transaction.zxid, false, change.data};
  Node& made = nodes_[transaction.zxid] = std::move(node);
  queue(made);
  note_first(directory, transaction.at);
  note_permits(directory, &made, transaction.at);
}

void History::remove(const ServerTransaction& transaction, const std::string& path) {
  const std::string directory = parent_of(path);
  auto& all = queues_[directory];
  const auto found = all.find(path);
  if (found == all.end()) return;
  Node& node = nodes_[found->second.token];
  node.removed = transaction.zxid;
  node.removed_at = transaction.at;
  node.remover = transaction.session;
  node.end = transaction.closes_session            ? Node::End::with_session
             : transaction.session == node.session ? Node::End::by_owner
                                                   : Node::End::by_another;
  all.erase(found);
  if (!transaction.closes_session) std::erase(ephemerals_[node.session], path);
  note_first(directory, transaction.at);
  note_permits(directory, nullptr, transaction.at);
}

void History::set_data(const ServerTransaction& transaction, const Change& change) {
  const std::string directory = parent_of(change.path);
  auto& all = queues_[directory];
  const auto found = all.find(change.path);
  if (found == all.end()) return;
  Live& live = found->second;
  writes_.push_back({transaction.zxid, live.token, transaction.session, live.data, change.data});
  live.data = change.data;
  Node& node = nodes_[live.token];
  if (!is_kept_confirmed(directory) || transaction.session != node.session) return;
  node.removed = transaction.zxid;
  node.removed_at = transaction.at;
  node.remover = transaction.session;
  node.end = Node::End::by_owner;
  live = {transaction.zxid, false, change.data};
  Node& next = nodes_[transaction.zxid] = Node{.path = node.path,
                                               .directory = directory,
                                               .incarnation = node.incarnation,
                                               .place = node.place,
                                               .client = node.client,
                                               .session = node.session,
                                               .created = transaction.zxid,
                                               .created_at = transaction.at};
  queue(next);
  note_first(directory, transaction.at);
  note_permits(directory, nullptr, transaction.at);
}

void History::mark(const ServerTransaction& transaction, const std::string& path) {
  auto& queue = queues_[parent_of(path)];
  const auto found = queue.find(path);
  if (found == queue.end()) return;  // the server checks that it is there
  const Node& node = nodes_[found->second.token];
  Mark made{.zxid = transaction.zxid, .token = node.created};
  if (node.place.kind == LockKind::permit) {
    for (const auto& [other, live] : queue)
      if (live.is_marked && other != found->first) made.against.push_back(live.token);
  } else if (node.became_first_at < 0) {
    // No node blocks a node that was first. Only a writer that goes on as a reader still gets ahead of it, when an
    // operator has just deleted the writer's node.
    made.against = ahead_of(node);
  }
  found->second.is_marked = true;
  marks_.push_back(std::move(made));
}

/// A new node is behind the nodes ahead of it. It is also ahead of some existing nodes if it is a reader's node beside
/// its own writer's. No node blocks a node that is first. Nor does a reader whose writer's node an operator has deleted
/// before: its number proves nothing then, and its client gives it up (docs/guarantees.md).
void History::queue(Node& made) {
  const auto& queue = queues_.at(made.directory);
  const auto is_later = [&](const auto& each) {
    return nodes_.at(each.second.token).place.sequence > made.place.sequence;
  };
  const auto is_its_writer = [&](const auto& each) {
    const LockNode& place = nodes_.at(each.second.token).place;
    return place.kind == LockKind::write && place.sequence == made.place.sequence;
  };
  made.is_baseless = made.place.kind == LockKind::read && std::ranges::any_of(queue, is_later) &&
                     std::ranges::none_of(queue, is_its_writer);
  made.behind = ahead_of(made);
  if (made.is_baseless) return;
  for (const auto& [path, live] : queues_.at(made.directory)) {
    Node& other = nodes_.at(live.token);
    const bool waits = other.place.kind != LockKind::permit && other.became_first_at < 0;
    if (waits && is_blocked_by(other.place, made.place)) other.behind.push_back(made.created);
  }
}

std::vector<std::int64_t> History::blocked_by(const Node& node, std::int64_t at) const {
  if (node.became_first_at >= 0 && node.became_first_at <= at) return {};
  std::vector<std::int64_t> some;
  for (const std::int64_t token : node.behind) {
    const Node& other = nodes_.at(token);
    if (other.created_at <= at && (other.removed == 0 || other.removed_at > at)) some.push_back(token);
  }
  return some;
}

void History::note_first(const std::string& directory, std::int64_t at) {
  for (const auto& [path, live] : queues_[directory]) {
    Node& node = nodes_[live.token];
    if (node.became_first_at < 0 && node.place.kind != LockKind::permit && ahead_of(node).empty())
      node.became_first_at = at;
  }
}

/// All nodes have a permit as soon as there are no more nodes than permits: only the first client in the queue before
/// makes any. A client that wants several permits has none until it has all of them.
void History::note_permits(const std::string& directory, const Node* made, std::int64_t at) {
  const auto& all = queues_[directory];
  const bool has_room = all.size() <= permits_of(directory);
  for (const auto& [path, live] : all) {
    Node& node = nodes_[live.token];
    if (node.place.kind != LockKind::permit) continue;
    if (!has_room && made && node.session == made->session) node.became_first_at = -1;
    if (has_room && node.became_first_at < 0) node.became_first_at = at;
  }
}

std::vector<std::int64_t> History::ahead_of(const Node& node) const {
  std::vector<std::int64_t> ahead;
  if (node.place.kind == LockKind::permit) return ahead;
  for (const auto& [path, live] : queues_.at(node.directory))
    if (const Node& other = nodes_.at(live.token);
        live.token != node.created && !other.is_baseless && is_blocked_by(node.place, other.place))
      ahead.push_back(live.token);
  return ahead;
}

}  // namespace zklock::chaos
