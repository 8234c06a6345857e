#include "cache_core.hpp"

#include <zklock/codec.hpp>
#include <zklock/path.hpp>

#include <algorithm>
#include <iterator>
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

/// The first path that is not below it.
std::string end_below(const std::string& path) {
  return (path == "/" ? std::string{} : path) + static_cast<char>('/' + 1);
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
    try {
      node.data = client().config().codec->decode(read.data);
    } catch (const boost::system::system_error& error) {
      node.error = error.code();
    }
  } else if (options_.keeps_data()) {
    node.data = std::move(read.data);
  }
  return std::make_shared<const ChildData>(std::move(node));
}

/// Ephemeral nodes have no children.
bool CacheCore::follows_children(const std::string& path, const Stat& stat) const {
  return !is_owned_by_session(stat) && level_of(path, this->path()) < options_.depth();
}

/// Under the mutex. A reader of events gets each state of a node, or a later one.
void CacheCore::show(Node& node, const std::string& path, ChildDataPtr now) {
  ChildDataPtr before = std::exchange(node.data, now);
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
    Node& node = nodes_[path];
    const bool was_read = node.data && node.data->stat.czxid != 0;
    const Accepted accepted = was_read ? accept(node.data->stat, stat) : Accepted{Change::created};
    if (accepted.went_back) return begin_anew();
    if (accepted.change != Change::same || node.data->error != now->error) show(node, path, std::move(now));
  }
  if (!follows_children(path, stat)) return;
  const Item children{WatchKind::children, path};
  follow_->add(children, stat.num_children > 0 ? Follow::Urgency::soon : Follow::Urgency::late);
  follow_->release(children);
}

/// Under the mutex.
void CacheCore::name_child(const std::string& path) {
  if (!options_.accepts(path)) return;
  nodes_.try_emplace(path);
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
  std::ranges::sort(children.names);
  Listing listing{std::move(children.names), children.stat};
  const ListChange change = accept(node->second.children, listing);
  if (change.node.went_back) return begin_anew();
  const auto is_read_since = [&](const std::string& name) {
    const auto child = nodes_.find(join_path(path, name));
    return std::ranges::binary_search(change.added, name) && child != nodes_.end() && child->second.data &&
           child->second.data->stat.czxid > listing.stat.czxid;
  };
  for (const std::string& name : change.removed)
    if (!is_read_since(name)) remove_with_all_below(join_path(path, name));
  for (const std::string& name : listing.names) name_child(join_path(path, name));
  node->second.children = std::move(listing);
}

void CacheCore::on_absent(const Item& item) {
  if (item.kind == WatchKind::children) return;  // the data, which are dirty, too, tell what has become of the node
  const std::lock_guard lock{mutex_};
  remove_with_all_below(item.path);
}

/// What is below it is not known any more. Who may not list the children may not read the data, either.
void CacheCore::on_unreadable(const Item& item, error_code error) {
  const std::lock_guard lock{mutex_};
  Node& node = nodes_[item.path];
  remove_below(item.path);
  node.children.reset();
  if (item.kind == WatchKind::children) return follow_->recheck({WatchKind::data, item.path});
  follow_->drop({WatchKind::children, item.path});
  ChildData unreadable{item.path, {}, node.data ? node.data->stat : Stat{}, error};
  show(node, item.path, std::make_shared<const ChildData>(std::move(unreadable)));
}

/// Under the mutex. Children go before their parents.
void CacheCore::remove_below(const std::string& path) {
  const std::string prefix = path == "/" ? path : path + "/";
  const auto is_below = [&](const std::string& other) {
    return other.size() > prefix.size() && other.starts_with(prefix);
  };
  const auto end = nodes_.lower_bound(end_below(path));
  while (end != nodes_.begin() && is_below(std::prev(end)->first)) remove(std::prev(end));
}

void CacheCore::remove_with_all_below(const std::string& path) {
  remove_below(path);
  if (const auto node = nodes_.find(path); node != nodes_.end()) remove(node);
}

/// The first item stays: it tells when there is a node again.
void CacheCore::remove(Nodes::iterator node) {
  const std::string& path = node->first;
  if (path != this->path()) follow_->drop({WatchKind::data, path});
  follow_->drop({WatchKind::children, path});
  show(node->second, path, nullptr);
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
  return node == nodes_.end() || !is_shown(path) ? nullptr : node->second.data;
}

std::map<std::string, ChildDataPtr> CacheCore::children(const std::string& path) const {
  std::map<std::string, ChildDataPtr> found;
  const std::lock_guard lock{mutex_};
  const auto node = nodes_.find(path);
  if (node == nodes_.end() || !node->second.children) return found;
  for (const std::string& name : node->second.children->names)
    if (const auto child = nodes_.find(join_path(path, name)); child != nodes_.end() && child->second.data)
      found.emplace_hint(found.end(), name, child->second.data);
  return found;
}

std::shared_ptr<const CacheSnapshot> CacheCore::snapshot() const {
  const std::lock_guard lock{mutex_};
  if (snapshot_) return snapshot_;
  auto copy = std::make_shared<CacheSnapshot>();
  for (const auto& [path, node] : nodes_)
    if (node.data && is_shown(path)) copy->emplace_hint(copy->end(), path, node.data);
  return snapshot_ = std::move(copy);
}

std::size_t CacheCore::size() const {
  const std::lock_guard lock{mutex_};
  return shown_;
}

CacheEvents CacheCore::subscribe() {
  const std::lock_guard lock{mutex_};
  auto events = subscribers_.add(client());
  for (const auto& [path, node] : nodes_)
    if (node.data && is_shown(path)) events->push(change_of(path, nullptr, node.data));
  if (initialized_) events->push({CacheEvent::Type::initialized});
  if (freshness_ == Freshness::State::live) events->push({CacheEvent::Type::live});
  if (freshness_ == Freshness::State::stale) events->push({CacheEvent::Type::stale});
  if (end_) events->end(*end_);
  return CacheEvents{std::move(events)};
}

}  // namespace zklock::detail
