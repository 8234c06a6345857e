// How a LockBoard sums up a lock, and what it remembers of it.
#include "lock_board.hpp"

#include <zklock/path.hpp>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace zklock::tools {
namespace {

constexpr std::size_t max_history = 500;
constexpr std::size_t max_histories = 10'000;
constexpr std::size_t max_holder_nodes = 64;

std::string_view kind_of(const std::vector<WaitQueue>& queues) {
  if (queues.size() > 1) return "mixed";
  if (queues.empty()) return {};
  switch (queue_kind_of(queues.front().front().node_path).value_or(QueueKind::permit)) {
    case QueueKind::mutex: return "mutex";
    case QueueKind::read_write: return "read-write";
    case QueueKind::kazoo: return "kazoo";
    case QueueKind::permit: break;
  }
  return "semaphore";
}

auto state_of(const LockParticipant& one) {
  return std::tie(one.node_path, one.fencing_token, one.count, one.client_id, one.revocation_requested);
}

bool looks_the_same(const BoardLock& one, const BoardLock& other) {
  return one.kind == other.kind && one.holders == other.holders && one.waiting == other.waiting &&
         one.readable == other.readable && one.holder_nodes == other.holder_nodes &&
         state_of(one.holder) == state_of(other.holder) && state_of(one.waiter) == state_of(other.waiter);
}

void add(BoardLock& lock, const LockParticipant& one, bool holds) {
  std::size_t& count = holds ? lock.holders : lock.waiting;
  if (++count == 1) (holds ? lock.holder : lock.waiter) = one;
  if (holds && lock.holder_nodes.size() < max_holder_nodes) lock.holder_nodes.push_back(one.node_path);
}

}  // namespace

SemaphoreQueues LockBoard::semaphore_of(const std::string& lock) const {
  SemaphoreQueues result;
  const Directory* leases = directory(join_path(lock, leases_name));
  const Directory* locks = directory(join_path(lock, locks_name));
  if (leases != nullptr && !leases->content.queues.empty()) result.permits = leases->content.queues.back();
  if (locks != nullptr && !locks->content.queues.empty()) result.waiting = locks->content.queues.front();
  return result;
}

/// A permit that was not read counts as held.
WaitQueue LockBoard::held_permits(const SemaphoreQueues& semaphore) const {
  WaitQueue held = semaphore.permits;
  std::erase_if(held, [&](const LockParticipant& one) { return is_read(one) && !is_held_permit(semaphore, one); });
  return held;
}

BoardLock LockBoard::summarise(const std::string& lock) const {
  BoardLock result;
  result.path = lock;
  for (const std::string& part : directories_of(lock))
    if (const Directory* entry = directory(part)) {
      result.seen = std::max(result.seen, entry->seen);
      result.readable = result.readable && entry->readable;
    }
  if (semaphores_.contains(lock)) {
    const SemaphoreQueues semaphore = semaphore_of(lock);
    result.kind = "semaphore";
    for (const LockParticipant& one : held_permits(semaphore)) add(result, one, true);
    for (const LockParticipant& one : semaphore.waiting) add(result, one, false);
    return result;
  }
  const Directory* entry = directory(lock);
  if (entry == nullptr) return result;
  result.kind = kind_of(entry->content.queues);
  for (const WaitQueue& queue : entry->content.queues) {
    const auto granted = tools::holders(queue);
    for (std::size_t i = 0; i < queue.size(); ++i) add(result, queue[i], granted[i]);
  }
  return result;
}

std::vector<BoardPlace> LockBoard::places(const std::string& lock, std::size_t limit) const {
  std::vector<BoardPlace> holding;
  std::vector<BoardPlace> waiting;
  const auto put = [&](const LockParticipant& one, bool holds) {
    auto& list = holds ? holding : waiting;
    if (list.size() < limit) list.push_back({one, holds});
  };
  if (semaphores_.contains(lock)) {
    const SemaphoreQueues semaphore = semaphore_of(lock);
    for (const LockParticipant& one : held_permits(semaphore)) put(one, true);
    for (const LockParticipant& one : semaphore.waiting) put(one, false);
  } else if (const Directory* entry = directory(lock)) {
    for (const WaitQueue& queue : entry->content.queues) {
      const auto granted = tools::holders(queue);
      for (std::size_t i = 0; i < queue.size(); ++i) put(queue[i], granted[i]);
    }
  }
  holding.insert(holding.end(), waiting.begin(), waiting.end());
  if (holding.size() > limit) holding.resize(limit);
  return holding;
}

void LockBoard::refresh(const std::string& lock, Time now) {
  BoardLock row = summarise(lock);
  const auto found = locks_.find(lock);
  if (found == locks_.end()) {
    row.revision = ++revision_;
    record({}, row, now);
    locks_.emplace(lock, std::move(row));
    return;
  }
  if (row.kind.empty()) row.kind = found->second.kind;  // a lock that nobody uses has its last kind
  if (looks_the_same(found->second, row)) {
    found->second.seen = row.seen;
    return;
  }
  record(found->second, row, now);
  row.revision = ++revision_;
  found->second = std::move(row);
}

void LockBoard::record(const BoardLock& before, const BoardLock& after, Time now) {
  const std::string& lock = before.path.empty() ? after.path : before.path;
  for (const std::string& node : before.holder_nodes) {
    if (std::ranges::find(after.holder_nodes, node) != after.holder_nodes.end()) continue;
    BoardEvent event{now, BoardEvent::What::released, {}, {}};
    event.one.node_path = node;
    const auto& events = history(lock);
    const auto granted = std::find_if(events.rbegin(), events.rend(), [&](const BoardEvent& old) {
      return old.what == BoardEvent::What::granted && old.one.node_path == node;
    });
    if (granted != events.rend()) {
      event.one = granted->one;
      event.held = std::chrono::duration_cast<std::chrono::milliseconds>(now - granted->at);
    }
    remember(lock, std::move(event));
  }
  for (const std::string& node : after.holder_nodes) {
    if (std::ranges::find(before.holder_nodes, node) != before.holder_nodes.end()) continue;
    BoardEvent event{now, BoardEvent::What::granted, {}, {}};
    event.one.node_path = node;
    for (const BoardPlace& place : places(lock, max_holder_nodes))
      if (place.one.node_path == node) event.one = place.one;
    remember(lock, std::move(event));
  }
}

void LockBoard::remember(const std::string& lock, BoardEvent event) {
  if (history_.size() >= max_histories && !history_.contains(lock)) {
    const auto unused = std::ranges::find_if(history_, [&](const auto& one) { return !locks_.contains(one.first); });
    if (unused == history_.end()) return;
    history_.erase(unused);
  }
  auto& events = history_[lock];
  events.push_back(std::move(event));
  if (events.size() > max_history) events.pop_front();
}

void LockBoard::complete_history(const std::string& lock, const LockParticipant& one) {
  const auto found = history_.find(lock);
  if (found == history_.end()) return;
  for (BoardEvent& event : found->second)
    if (event.one.node_path == one.node_path && !is_read(event.one)) event.one = one;
}

const std::deque<BoardEvent>& LockBoard::history(const std::string& lock) const {
  static const std::deque<BoardEvent> none;
  const auto found = history_.find(lock);
  return found == history_.end() ? none : found->second;
}

}  // namespace zklock::tools
