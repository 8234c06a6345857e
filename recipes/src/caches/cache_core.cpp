#include "cache_core.hpp"

#include "accept.hpp"

#include <zklock/codec.hpp>
#include <zklock/path.hpp>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace zklock::detail {

namespace {

/// Containers and nodes with a time to live have an owner, too: only the highest bit, or a highest byte of ones
/// (EphemeralType).
bool is_owned_by_session(const Stat& stat) {
  const auto owner = static_cast<std::uint64_t>(stat.ephemeral_owner);
  return owner != 0 && owner != std::uint64_t{1} << 63 && owner >> 56 != 0xff;
}

/// How many levels it is below the first node.
std::size_t level_of(const std::string& path, const std::string& first) {
  const auto from = path.begin() + static_cast<std::ptrdiff_t>(first == "/" ? 0 : first.size());
  return path == first ? 0 : static_cast<std::size_t>(std::count(from, path.end(), '/'));
}

/// What the paths below it begin with.
std::string prefix_of(const std::string& path) { return path == "/" ? path : path + '/'; }

/// The first path that is not below it.
std::string end_below(std::string path) {
  if (path == "/") path.clear();
  return std::move(path) + static_cast<char>('/' + 1);
}

}  // namespace

CacheCore::CacheCore(const ClientHandle& client, std::string path, CacheOptions options)
    : RecipeCore{client, std::move(path)},
      options_{std::move(options)},
      follow_{std::make_shared<Follow>(client, Item{WatchKind::data, this->path()})} {}

CacheCore::~CacheCore() {
  if (!client().in_forked_child()) subscribers_.end(make_error_code(Error::closing));
}

ChildDataPtr CacheCore::make_data(const std::string& path, DataResult read) const {
  ChildData node{path, {}, read.stat};
  if (options_.keeps_data() && options_.is_decompressed()) {
    const ClientConfig& config = client().config();
    auto plain = decoded(*config.codec, read.data, config.max_decoded);
    if (plain)
      node.data = std::move(*plain);
    else
      node.error = plain.error();
  } else if (options_.keeps_data()) {
    node.data = std::move(read.data);
  }
  return std::make_shared<const ChildData>(std::move(node));
}

/// Ephemeral nodes have no children.
bool CacheCore::follows_children(const std::string& path, const Stat& stat) const {
  return !is_owned_by_session(stat) && level_of(path, this->path()) < options_.depth();
}

/// Under the mutex.
const CacheCore::Node& CacheCore::node_at(const std::string& path) {
  const auto found = nodes_.lower_bound(path);
  return found != nodes_.end() && found->path() == path ? *found : *nodes_.emplace_hint(found, path);
}

/// Under the mutex. The first child of a node at `at` or behind it; the paths below the node begin with the prefix.
CacheCore::Nodes::const_iterator CacheCore::child_from(Nodes::const_iterator at, const std::string& prefix) const {
  while (at != nodes_.end() && at->path().starts_with(prefix)) {
    const auto slash = at->path().find('/', prefix.size());
    if (slash == std::string::npos) return at;
    at = nodes_.lower_bound(end_below(at->path().substr(0, slash)));
  }
  return nodes_.end();
}

/// Under the mutex; null for a node that is being removed. A reader of events gets each state of a node, or a later one.
void CacheCore::show(const Node& node, ChildDataPtr now) {
  const ChildDataPtr last = node.data;
  const std::string& path = last->path;
  ChildDataPtr before = node.shown();
  node.is_known = now != nullptr;
  if (now) node.data = now;
  if (!is_shown(path) || (!before && !now)) return;
  shown_ += now ? 1 : 0;
  shown_ -= before ? 1 : 0;
  snapshot_.reset();
  if (before && now && *before == *now) return;
  subscribers_.push(change_of(path, std::move(before), std::move(now)));
}

void CacheCore::on_data(const std::string& path, DataResult data) {
  const Stat stat = data.stat;
  ChildDataPtr now = make_data(path, std::move(data));
  {
    const std::lock_guard lock{mutex_};
    const Node& node = node_at(path);
    const bool was_read = node.is_known && node.data->stat.czxid != 0;
    const Accepted accepted = was_read ? accept(node.data->stat, stat) : Accepted{Change::created};
    if (accepted.went_back) return begin_anew();
    if (accepted.change != Change::same || node.data->error != now->error) show(node, std::move(now));
  }
  if (!follows_children(path, stat)) return;
  const Item children{WatchKind::children, path};
  follow_->add(children, stat.num_children > 0 ? Follow::Urgency::soon : Follow::Urgency::late);
  follow_->release(children);
}

/// Under the mutex.
void CacheCore::name_child(const std::string& path) {
  if (!options_.accepts(path)) return;
  node_at(path);
  const Item data{WatchKind::data, path};
  follow_->add(data);
  follow_->release(data);
}

/// A child that was dropped, since there was none when it was read, may be there again: so all names are followed.
/// Where the node is a new one, so are its children; but some may have been read since, and they stay.
void CacheCore::on_children(const std::string& path, ChildrenResult children) {
  const std::lock_guard lock{mutex_};
  const auto node = nodes_.find(path);
  if (node == nodes_.end()) return;
  const Stat& stat = children.stat;
  const bool is_same = node->list_czxid == stat.czxid;
  if (is_same ? stat.pzxid < node->list_pzxid : stat.czxid < node->list_czxid) return begin_anew();
  node->list_czxid = stat.czxid;
  node->list_pzxid = stat.pzxid;
  std::ranges::sort(children.names);
  const std::string prefix = prefix_of(path);
  for (auto child = child_from(nodes_.upper_bound(prefix), prefix); child != nodes_.end();) {
    const std::string_view name = std::string_view{child->path()}.substr(prefix.size());
    const bool is_named = std::ranges::binary_search(children.names, name);
    const bool stays = is_named && (is_same || (child->is_known && child->data->stat.czxid > stat.czxid));
    const auto gone = std::exchange(child, child_from(std::next(child), prefix));
    if (!stays) remove_with_all_below(gone);
  }
  for (const std::string& name : children.names) name_child(prefix + name);
}

void CacheCore::on_absent(const Item& item) {
  if (item.kind == WatchKind::children) return;  // the data, which are dirty, too, tell what has become of the node
  const std::lock_guard lock{mutex_};
  if (const auto node = nodes_.find(item.path); node != nodes_.end()) remove_with_all_below(node);
}

/// What is below it is not known any more. Who may not list the children may not read the data, either.
void CacheCore::on_unreadable(const Item& item, error_code error) {
  const std::lock_guard lock{mutex_};
  const Node& node = node_at(item.path);
  remove_below(item.path);
  node.list_czxid = node.list_pzxid = -1;
  if (item.kind == WatchKind::children) return follow_->recheck({WatchKind::data, item.path});
  follow_->drop({WatchKind::children, item.path});
  ChildData unreadable{item.path, {}, node.data->stat, error};
  show(node, std::make_shared<const ChildData>(std::move(unreadable)));
}

/// Under the mutex. Children go before their parents.
void CacheCore::remove_below(const std::string& path) {
  const std::string prefix = prefix_of(path);
  const auto is_below = [&](const std::string& other) {
    return other.size() > prefix.size() && other.starts_with(prefix);
  };
  const auto end = nodes_.lower_bound(end_below(path));
  while (end != nodes_.begin() && is_below(std::prev(end)->path())) remove(std::prev(end));
}

void CacheCore::remove_with_all_below(Nodes::const_iterator node) {
  remove_below(node->path());
  remove(node);
}

/// The first item stays: it tells when there is a node again.
void CacheCore::remove(Nodes::const_iterator node) {
  const std::string& path = node->path();
  if (path != this->path()) follow_->drop({WatchKind::data, path});
  follow_->drop({WatchKind::children, path});
  show(*node, nullptr);
  nodes_.erase(node);
}

/// Under the mutex. The servers have lost what they had.
void CacheCore::begin_anew() {
  nodes_.clear();
  shown_ = 0;
  snapshot_.reset();
  initialized_ = false;
  subscribers_.forget_unread();
  subscribers_.push({CacheEvent::Type::reset});
  follow_->start_anew();
}

void CacheCore::on_initialized() {
  const std::lock_guard lock{mutex_};
  initialized_ = true;
  subscribers_.push({CacheEvent::Type::initialized});
}

void CacheCore::on_freshness(const Freshness& freshness) {
  const std::lock_guard lock{mutex_};
  freshness_ = freshness.state;
  if (freshness_ == Freshness::State::live) subscribers_.push({CacheEvent::Type::live});
  if (freshness_ == Freshness::State::stale) subscribers_.push({CacheEvent::Type::stale});
}

void CacheCore::on_end(error_code reason) {
  const std::lock_guard lock{mutex_};
  end_ = reason;
  subscribers_.end(reason);
}

// ---- any thread

ChildDataPtr CacheCore::get(const std::string& path) const {
  const std::lock_guard lock{mutex_};
  const auto node = nodes_.find(path);
  return node == nodes_.end() || !is_shown(path) ? nullptr : node->shown();
}

std::map<std::string, ChildDataPtr> CacheCore::children(const std::string& path) const {
  std::map<std::string, ChildDataPtr> found;
  const std::string prefix = prefix_of(path);
  const std::lock_guard lock{mutex_};
  if (!nodes_.contains(path)) return found;
  for (auto child = child_from(nodes_.upper_bound(prefix), prefix); child != nodes_.end();
       child = child_from(std::next(child), prefix))
    if (child->is_known) found.emplace_hint(found.end(), child->path().substr(prefix.size()), child->data);
  return found;
}

std::shared_ptr<const CacheSnapshot> CacheCore::snapshot() const {
  const std::lock_guard lock{mutex_};
  if (snapshot_) return snapshot_;
  auto copy = std::make_shared<CacheSnapshot>();
  for (const Node& node : nodes_)
    if (node.is_known && is_shown(node.path())) copy->emplace_hint(copy->end(), node.path(), node.data);
  return snapshot_ = std::move(copy);
}

std::size_t CacheCore::size() const {
  const std::lock_guard lock{mutex_};
  return shown_;
}

CacheEvents CacheCore::subscribe() {
  const std::lock_guard lock{mutex_};
  auto events = subscribers_.add(client());
  for (const Node& node : nodes_)
    if (node.is_known && is_shown(node.path())) events->push(change_of(node.path(), nullptr, node.data));
  if (initialized_) events->push({CacheEvent::Type::initialized});
  if (freshness_ == Freshness::State::live) events->push({CacheEvent::Type::live});
  if (freshness_ == Freshness::State::stale) events->push({CacheEvent::Type::stale});
  if (end_) events->end(*end_);
  return CacheEvents{std::move(events)};
}

}  // namespace zklock::detail
