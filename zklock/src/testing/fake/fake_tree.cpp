#include "fake_tree.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>

namespace zklock::testing::fake {

namespace {

// EphemeralType: the owner field of a node tells its kind.
constexpr std::int64_t container_owner = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t ttl_owner = static_cast<std::int64_t>(0xFF00'0000'0000'0000U);

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// DataTree::isSpecialPath: never deleted.
bool is_special(const std::string& path) {
  return path == "/" || path == "/zookeeper" || path == "/zookeeper/quota" || path == "/zookeeper/config";
}

/// The server removes it some time after its last child.
bool is_mortal(const Tree::Node& node) { return node.stat.ephemeral_owner == container_owner || node.ttl.count() > 0; }

bool is_ephemeral_node(const Tree::Node& node) {
  const std::int64_t owner = node.stat.ephemeral_owner;
  return owner != 0 && owner != container_owner && node.ttl.count() == 0;
}

std::string sequenced(const std::string& path, std::int32_t number) {
  std::array<char, 16> digits{};
  std::snprintf(digits.data(), digits.size(), "%010d", number);
  return path + digits.data();
}

Reply failed(Error error) { return Reply{.error = make_error_code(error)}; }

bool is_stale(std::int32_t expected, std::int32_t actual) { return expected != any_version && expected != actual; }

}  // namespace

Tree::Tree(bool extended_types, bool refuses_exists)
    : extended_types_{extended_types}, refuses_exists_{refuses_exists} {
  nodes_["/"].acl = open_acl();
  for (const char* path : {"/zookeeper", "/zookeeper/quota", "/zookeeper/config"})
    put(path, Node{.acl = path == std::string_view{"/zookeeper/config"} ? read_acl() : open_acl()});
}

const Tree::Node* Tree::find(const std::string& path) const {
  const auto found = nodes_.find(path);
  return found == nodes_.end() ? nullptr : &found->second;
}

Tree::Node* Tree::find(const std::string& path) {
  const auto found = nodes_.find(path);
  return found == nodes_.end() ? nullptr : &found->second;
}

/// DataNode::copyStat: clients see both creations and deletions of children counted, and only sessions as owners.
Stat Tree::stat_of(const Node& node) {
  Stat stat = node.stat;
  stat.num_children = static_cast<std::int32_t>(node.children.size());
  stat.cversion = node.stat.cversion * 2 - stat.num_children;
  stat.data_length = static_cast<std::int32_t>(node.data.size());
  if (!is_ephemeral_node(node)) stat.ephemeral_owner = 0;
  return stat;
}

void Tree::put(const std::string& path, Node node) {
  const std::string parent = parent_of(path);
  Node& above = nodes_[parent];
  above.children.insert(name_of(path));
  mortals_.erase(parent);
  ++above.stat.cversion;
  above.stat.pzxid = zxid_;
  if (is_mortal(node)) mortals_.insert(path);
  nodes_[path] = std::move(node);
}

void Tree::erase(const std::string& path, Changes& changes) {
  const std::string parent = parent_of(path);
  Acl acl = std::move(nodes_[path].acl);
  nodes_.erase(path);
  mortals_.erase(path);
  if (Node* above = find(parent)) {
    above->children.erase(name_of(path));
    above->stat.pzxid = zxid_;
    if (above->children.empty() && is_mortal(*above)) mortals_.insert(parent);
  }
  changes.push_back({WatchEventType::node_deleted, path, std::move(acl)});
  changes.push_back({WatchEventType::node_children_changed, parent, {}});
}

// ---- writing

Reply Tree::write(const Request& request, const Caller& caller, WallTime now, Changes& changes) {
  take_number();
  return request.operation == Operation::multi ? multi(request, caller, now, changes)
                                               : apply(request, caller, now, changes);
}

Reply Tree::apply(const Request& request, const Caller& caller, WallTime now, Changes& changes) {
  switch (request.operation) {
    case Operation::create: return create(request, caller, now, changes);
    case Operation::remove: return remove(request, caller, changes);
    case Operation::set_data: return set_data(request, caller, now, changes);
    case Operation::set_acl: return set_acl(request, caller);
    case Operation::check: return check(request, caller);
    default: return failed(Error::unimplemented);
  }
}

Reply Tree::create(const Request& request, const Caller& caller, WallTime now, Changes& changes) {
  if (has_ttl(request.mode) && !extended_types_) return failed(Error::unimplemented);
  const std::optional<Acl> acl = fix_up(request.acl, caller.identities);
  if (!acl) return failed(Error::invalid_acl);
  const std::string parent_path = parent_of(request.path);
  const Node* parent = find(parent_path);
  if (!parent) return failed(Error::no_node);
  if (!may(caller.identities, Permission::create, parent->acl)) return failed(Error::no_auth);
  const std::string path = is_sequential(request.mode) ? sequenced(request.path, parent->stat.cversion) : request.path;
  if (find(path)) return failed(Error::node_exists);
  if (is_ephemeral_node(*parent)) return failed(Error::no_children_for_ephemerals);

  Node node{.data = request.data, .acl = *acl, .ttl = request.ttl};
  node.stat.czxid = node.stat.mzxid = node.stat.pzxid = zxid_;
  node.stat.created = node.stat.modified = now;
  node.stat.ephemeral_owner = is_ephemeral(request.mode)              ? caller.session
                              : request.mode == CreateMode::container ? container_owner
                              : has_ttl(request.mode)                 ? (ttl_owner | request.ttl.count())
                                                                      : 0;
  Reply reply{.error = {}, .path = path, .stat = stat_of(node)};
  put(path, std::move(node));
  changes.push_back({WatchEventType::node_created, path, {}});
  changes.push_back({WatchEventType::node_children_changed, parent_path, {}});
  return reply;
}

Reply Tree::remove(const Request& request, const Caller& caller, Changes& changes) {
  if (is_special(request.path)) return failed(Error::bad_arguments);
  const Node* parent = find(parent_of(request.path));
  const Node* node = find(request.path);
  if (!parent || !node) return failed(Error::no_node);
  if (!may(caller.identities, Permission::remove, parent->acl)) return failed(Error::no_auth);
  if (is_stale(request.version, node->stat.version)) return failed(Error::bad_version);
  if (!node->children.empty()) return failed(Error::not_empty);
  erase(request.path, changes);
  return {};
}

Reply Tree::set_data(const Request& request, const Caller& caller, WallTime now, Changes& changes) {
  const Node* node = find(request.path);
  if (!node) return failed(Error::no_node);
  if (!may(caller.identities, Permission::write, node->acl)) return failed(Error::no_auth);
  if (is_stale(request.version, node->stat.version)) return failed(Error::bad_version);
  force_data(request.path, request.data, now, changes);
  return Reply{.error = {}, .stat = stat_of(*find(request.path))};
}

Reply Tree::set_acl(const Request& request, const Caller& caller) {
  const std::optional<Acl> acl = fix_up(request.acl, caller.identities);
  if (!acl) return failed(Error::invalid_acl);
  Node* node = find(request.path);
  if (!node) return failed(Error::no_node);
  if (!may(caller.identities, Permission::admin, node->acl)) return failed(Error::no_auth);
  if (is_stale(request.version, node->stat.aversion)) return failed(Error::bad_version);
  node->acl = *acl;
  ++node->stat.aversion;
  return Reply{.error = {}, .stat = stat_of(*node)};
}

Reply Tree::check(const Request& request, const Caller& caller) {
  const Node* node = find(request.path);
  if (!node) return failed(Error::no_node);
  if (!may(caller.identities, Permission::read, node->acl)) return failed(Error::no_auth);
  if (is_stale(request.version, node->stat.version)) return failed(Error::bad_version);
  return {};
}

/// Each part sees the effects of those before it; if one fails, none has an effect.
Reply Tree::multi(const Request& request, const Caller& caller, WallTime now, Changes& changes) {
  const auto nodes_before = nodes_;
  const auto mortals_before = mortals_;
  Reply reply;
  Changes made;
  for (const Request& part : request.parts) {
    reply.parts.push_back(apply(part, caller, now, made));
    if (reply.parts.back().error) break;
  }
  if (!reply.parts.empty()) reply.error = reply.parts.back().error;
  if (!reply.error) {
    changes.insert(changes.end(), made.begin(), made.end());
    return reply;
  }
  nodes_ = nodes_before;
  mortals_ = mortals_before;
  const std::size_t culprit = reply.parts.size() - 1;
  reply.parts.resize(request.parts.size());
  for (std::size_t i = 0; i < reply.parts.size(); ++i)
    if (i != culprit) reply.parts[i] = failed(Error::rolled_back);
  return reply;
}

bool Tree::force_remove(const std::string& path, Changes& changes) {
  const Node* node = find(path);
  if (!node || !node->children.empty() || is_special(path)) return false;
  take_number();
  erase(path, changes);
  return true;
}

bool Tree::force_data(const std::string& path, std::string data, WallTime now, Changes& changes) {
  Node* node = find(path);
  if (!node) return false;
  node->data = std::move(data);
  ++node->stat.version;
  node->stat.mzxid = zxid_;
  node->stat.modified = now;
  changes.push_back({WatchEventType::node_data_changed, path, {}});
  return true;
}

// ---- reading

Reply Tree::read(const Request& request, const Caller& caller) const {
  if (request.operation == Operation::sync) return {};
  const Node* node = find(request.path);
  if (!node) return failed(Error::no_node);
  const bool is_admin = may(caller.identities, Permission::admin, node->acl);
  const bool is_reader = may(caller.identities, Permission::read, node->acl);
  Reply reply{.error = {}, .stat = stat_of(*node)};
  switch (request.operation) {
    case Operation::exists:
      if (refuses_exists_ && !is_reader) return failed(Error::no_auth);
      return reply;
    case Operation::get_data:
      if (!is_reader) return failed(Error::no_auth);
      reply.data = node->data;
      return reply;
    case Operation::get_children:
      if (!is_reader) return failed(Error::no_auth);
      reply.children.assign(node->children.begin(), node->children.end());
      return reply;
    case Operation::get_acl:
      if (!is_reader && !is_admin) return failed(Error::no_auth);
      reply.acl = is_admin ? node->acl : masked(node->acl);
      return reply;
    default: return failed(Error::unimplemented);
  }
}

// ---- nodes that the server removes

void Tree::end_session(std::int64_t session, Changes& changes) {
  take_number();
  std::vector<std::string> owned;
  for (const auto& [path, node] : nodes_)
    if (is_ephemeral_node(node) && node.stat.ephemeral_owner == session) owned.push_back(path);
  for (const std::string& path : owned) erase(path, changes);
}

namespace {

/// ContainerManager: a container that never had a child stays.
std::optional<WallTime> reapable_since(const Tree::Node& node) {
  if (!node.children.empty()) return std::nullopt;
  if (node.stat.ephemeral_owner == container_owner && node.stat.cversion > 0) return WallTime::min();
  if (node.ttl.count() > 0) return node.stat.modified + node.ttl;
  return std::nullopt;
}

}  // namespace

std::optional<WallTime> Tree::next_reaping() const {
  std::optional<WallTime> next;
  for (const std::string& path : mortals_) {
    if (const auto since = reapable_since(nodes_.at(path)); since && (!next || *since < *next)) next = since;
    if (next == WallTime::min()) break;  // the others are not sooner, and there may be thousands
  }
  return next;
}

void Tree::reap(WallTime now, Changes& changes) {
  std::vector<std::string> candidates;
  for (const std::string& path : mortals_)
    if (const auto since = reapable_since(nodes_.at(path)); since && *since < now) candidates.push_back(path);
  for (const std::string& path : candidates) {
    take_number();
    erase(path, changes);
  }
}

}  // namespace zklock::testing::fake
