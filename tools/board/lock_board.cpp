#include "lock_board.hpp"

#include "queue_names.hpp"

#include <zklock/path.hpp>
#include <zklock/recipes/locks/lock_data.hpp>
#include <zklock/recipes/locks/revocation.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <unordered_map>
#include <utility>

namespace zklock::tools {
namespace {

constexpr std::size_t max_holders_read = 16;

LockParticipant unread_participant(const std::string& directory, const QueueName& name) {
  LockParticipant one;
  one.node_path = join_path(directory, name.name);
  one.kind = name.kind;
  one.sequence = name.sequence;
  return one;
}

/// The queues by the new names; what was read of a node before stays.
std::vector<WaitQueue> queues_of(const std::string& directory, const SortedNames& sorted,
                                 const std::vector<WaitQueue>& before) {
  std::unordered_map<std::string_view, const LockParticipant*> known;
  for (const WaitQueue& queue : before)
    for (const LockParticipant& one : queue)
      if (is_read(one)) known.emplace(one.node_path, &one);
  std::vector<WaitQueue> queues;
  for (const auto& [kind, names] : sorted.queues) {
    WaitQueue& queue = queues.emplace_back();
    for (const QueueName& name : names) {
      LockParticipant one = unread_participant(directory, name);
      const auto old = known.find(one.node_path);
      queue.push_back(old == known.end() ? std::move(one) : *old->second);
    }
  }
  return queues;
}

/// A request to revoke takes the place of the client's id in the node, not in what is known of it.
void read_into(LockParticipant& one, const DataResult& node) {
  one.revocation_requested = node.data == revocation_request;
  if (!one.revocation_requested || one.fencing_token != node.stat.czxid) {
    one.client_id.clear();
    one.count = 0;
  }
  if (const auto data = parse_lock_data(node.data)) {
    one.client_id = data->client_id;
    one.count = data->count;
  }
  one.session_id = node.stat.ephemeral_owner;
  one.fencing_token = node.stat.czxid;
  one.since = node.stat.created;
}

/// Permits have no order but that of their creation; those that were not read come last.
void sort_permits(WaitQueue& permits) {
  std::ranges::stable_sort(permits, {}, [](const LockParticipant& one) {
    return is_read(one) ? one.fencing_token : std::numeric_limits<std::int64_t>::max();
  });
}

bool holds_permits(const std::vector<WaitQueue>& queues) {
  return !queues.empty() && queues.back().front().kind == LockKind::permit;
}

}  // namespace

const LockBoard::Directory* LockBoard::directory(const std::string& path) const {
  const auto found = directories_.find(path);
  return found == directories_.end() ? nullptr : &found->second;
}

const BoardLock* LockBoard::find(const std::string& lock) const {
  const auto found = locks_.find(lock);
  return found == locks_.end() ? nullptr : &found->second;
}

std::string LockBoard::lock_of(const std::string& directory) const {
  const std::string_view name = node_name(directory);
  std::string parent{parent_path(directory)};
  const bool is_part = (name == leases_name || name == locks_name) && semaphores_.contains(parent);
  return is_part ? parent : directory;
}

std::vector<std::string> LockBoard::directories_of(const std::string& lock) const {
  if (!semaphores_.contains(lock)) return {lock};
  return {join_path(lock, leases_name), join_path(lock, locks_name)};
}

LockBoard::Changes LockBoard::update_children(Directory& entry, const std::vector<std::string>& names) {
  const std::string& path = entry.content.path;
  std::vector<std::string> children;
  if (!holds_permits(entry.content.queues))
    std::ranges::copy_if(names, std::back_inserter(children),
                         [&](const std::string& name) { return may_be_directory(path, name); });
  std::ranges::sort(children);
  const auto difference = [&](const auto& one, const auto& other) {
    std::vector<std::string> paths;
    std::vector<std::string> only;
    std::ranges::set_difference(one, other, std::back_inserter(only));
    for (const std::string& name : only) paths.push_back(join_path(path, name));
    return paths;
  };
  Changes changes{difference(children, entry.children), difference(entry.children, children)};
  entry.children = std::move(children);
  return changes;
}

LockBoard::Changes LockBoard::listed(const std::string& path, const std::vector<std::string>& names, Time now) {
  const SortedNames sorted = sort_names(path, names);
  Directory& entry = directories_[path];
  entry.content.path = path;
  entry.seen = now;
  entry.readable = true;
  if (sorted.has_lock) {
    entry.content.queues = queues_of(path, sorted, entry.content.queues);
    entry.content.malformed = sorted.malformed;
    entry.content.foreign = sorted.foreign;
  } else {
    entry.content.queues.clear();
    entry.content.malformed.clear();
    entry.content.foreign.clear();
  }
  if (holds_permits(entry.content.queues)) {
    sort_permits(entry.content.queues.back());
    if (semaphores_.insert(std::string{parent_path(path)}).second)
      remove_lock(join_path(parent_path(path), locks_name), now);
  }
  Changes changes = update_children(entry, names);
  for (const std::string& child : changes.deleted) gone(child, now);
  const std::string lock = lock_of(path);
  if (sorted.has_lock || locks_.contains(lock)) refresh(lock, now);
  return changes;
}

void LockBoard::erase_below(const std::string& directory) {
  const std::string prefix = join_path(directory, "");
  for (auto next = directories_.lower_bound(directory); next != directories_.end();) {
    if (next->first != directory && !next->first.starts_with(prefix)) {
      if (next->first > prefix) break;  // such as "/a-b", which sorts between "/a" and "/a/"
      ++next;
      continue;
    }
    next = directories_.erase(next);
  }
}

void LockBoard::gone(const std::string& path, Time now) {
  const std::string prefix = path == "/" ? path : path + "/";
  erase_below(path);
  std::vector<std::string> ended;
  for (auto next = locks_.lower_bound(path); next != locks_.end(); ++next)
    if (next->first == path || next->first.starts_with(prefix)) ended.push_back(next->first);
  for (const std::string& lock : ended) remove_lock(lock, now);
  std::erase_if(semaphores_, [&](const std::string& one) { return one == path || one.starts_with(prefix); });
  const std::string lock = lock_of(path);
  if (lock == path || !locks_.contains(lock)) return;
  const auto parts = directories_of(lock);
  if (std::ranges::any_of(parts, [&](const std::string& part) { return directories_.contains(part); })) {
    refresh(lock, now);
  } else {
    remove_lock(lock, now);
    semaphores_.erase(lock);
  }
}

void LockBoard::unreadable(const std::string& path, Time now) {
  Directory& entry = directories_[path];
  entry.content.path = path;
  entry.readable = false;
  if (const std::string lock = lock_of(path); locks_.contains(lock)) refresh(lock, now);
}

void LockBoard::node_read(const std::string& node_path, const DataResult& node, Time now) {
  const std::string path{parent_path(node_path)};
  const auto found = directories_.find(path);
  if (found == directories_.end()) return;
  for (WaitQueue& queue : found->second.content.queues) {
    const auto one = std::ranges::find(queue, node_path, &LockParticipant::node_path);
    if (one == queue.end()) continue;
    read_into(*one, node);
    const std::string lock = lock_of(path);
    complete_history(lock, *one);
    if (one->kind == LockKind::permit) sort_permits(queue);
    return refresh(lock, now);
  }
}

void LockBoard::node_unreadable(const std::string& node_path) {
  // The next listing leaves the node out, if it is gone. Until then it is not asked for again.
  const auto found = directories_.find(std::string{parent_path(node_path)});
  if (found == directories_.end()) return;
  for (WaitQueue& queue : found->second.content.queues)
    for (LockParticipant& one : queue)
      if (one.node_path == node_path && !is_read(one)) one.fencing_token = -1;
}

void LockBoard::remove_lock(const std::string& lock, Time now) {
  const auto found = locks_.find(lock);
  if (found == locks_.end()) return;
  record(found->second, {}, now);
  locks_.erase(found);
  removals_.push_back({++revision_, lock});
  if (removals_.size() > max_removals) removals_.pop_front();
}

std::vector<std::string> LockBoard::unread(const std::string& lock, std::size_t waiters) const {
  std::vector<std::string> paths;
  std::size_t holding = 0;
  std::size_t waiting = 0;
  for (const BoardPlace& place : places(lock, max_holders_read + waiters + 1)) {
    std::size_t& count = place.holds ? holding : waiting;
    if (++count > (place.holds ? max_holders_read : waiters)) continue;
    if (!is_read(place.one)) paths.push_back(place.one.node_path);
  }
  return paths;
}

Survey LockBoard::survey() const {
  Survey result;
  for (const auto& [path, entry] : directories_) {
    if (!entry.readable) result.unreadable.push_back(path);
    LockDirectory part{path, {}, entry.content.malformed, entry.content.foreign};
    for (const WaitQueue& queue : entry.content.queues) {
      const auto end = std::ranges::find_if_not(queue, [](const auto& one) { return one.fencing_token > 0; });
      if (end != queue.begin()) part.queues.emplace_back(queue.begin(), end);
    }
    if (!part.queues.empty() || !part.malformed.empty()) result.directories.push_back(std::move(part));
  }
  result.cut_off.assign(cut_off_.begin(), cut_off_.end());
  return result;
}

}  // namespace zklock::tools
