#include "wait_queues.hpp"

#include <zklock/path.hpp>
#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>
#include <zklock/recipes/locks/inter_process_semaphore.hpp>
#include <zklock/recipes/locks/lock_node.hpp>

#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace zklock::tools {

namespace {

using Pending = std::future<WaitQueue>;

Pending ask_permits(const ClientHandle& client, const std::string& path) {
  const InterProcessSemaphore semaphore{client, path, 1};  // any number: it is not used
  return semaphore.async_participants(asio::use_future);
}

bool is_directory_of_permits(std::string_view directory) {
  return node_name(directory) == leases_name && parent_path(directory) != "/";
}

Pending ask(const ClientHandle& client, const std::string& directory, QueueKind kind) {
  switch (kind) {
    case QueueKind::mutex: return InterProcessMutex{client, directory}.async_participants(asio::use_future);
    case QueueKind::read_write:
      return InterProcessReadWriteLock{client, directory}.async_participants(asio::use_future);
    case QueueKind::kazoo:
      return InterProcessReadWriteLock{client, directory, LockNaming::kazoo}.async_participants(asio::use_future);
    case QueueKind::permit: break;
  }
  return ask_permits(client, std::string{parent_path(directory)});
}

bool has_number_behind(std::string_view name, std::string_view marker) {
  const auto at = name.rfind(marker);
  if (at == std::string_view::npos) return false;
  std::string_view number = name.substr(at + marker.size());
  if (number.starts_with('-')) number.remove_prefix(1);
  return number.size() >= 9 && number.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::optional<QueueKind> queue_kind_of(std::string_view node_path) noexcept {
  const std::string_view name = node_name(node_path);
  if (const auto node = parse_lock_node(name)) {
    if (node->kind == LockKind::mutex) return QueueKind::mutex;
    if (node->kind != LockKind::permit) return QueueKind::read_write;
    return is_directory_of_permits(parent_path(node_path)) ? std::optional{QueueKind::permit} : std::nullopt;
  }
  for (const LockKind kind : {LockKind::read, LockKind::write})
    if (has_number_behind(name, marker_of(kind, LockNaming::kazoo))) return QueueKind::kazoo;
  return std::nullopt;
}

PendingQueues::PendingQueues(const ClientHandle& client, const std::string& directory)
    : PendingQueues{client, directory, {QueueKind::mutex, QueueKind::read_write, QueueKind::kazoo, QueueKind::permit}} {
}

PendingQueues::PendingQueues(const ClientHandle& client, const std::string& directory,
                             const std::set<QueueKind>& kinds) {
  for (const QueueKind kind : kinds)
    if (kind != QueueKind::permit || is_directory_of_permits(directory))
      queues_.push_back(ask(client, directory, kind));
}

std::vector<WaitQueue> PendingQueues::get() {
  std::vector<WaitQueue> result;
  for (Pending& queue : queues_) result.push_back(queue.get());
  std::erase_if(result, [](const WaitQueue& queue) { return queue.empty(); });
  return result;
}

std::vector<WaitQueue> read_queues(const ClientHandle& client, const std::string& directory) {
  return PendingQueues{client, directory}.get();
}

SemaphoreQueues read_semaphore(const ClientHandle& client, const std::string& path) {
  // The permits are read later: so a client that was admitted meanwhile is among them.
  WaitQueue waiting = ask(client, join_path(path, locks_name), QueueKind::mutex).get();
  return {ask_permits(client, path).get(), std::move(waiting)};
}

bool is_held_permit(const SemaphoreQueues& semaphore, const LockParticipant& permit) noexcept {
  if (semaphore.waiting.empty()) return true;
  const LockParticipant& first = semaphore.waiting.front();
  return permit.session_id != first.session_id || permit.fencing_token < first.fencing_token;
}

bool blocks_waiters(const LockParticipant& ahead, const LockParticipant& behind) noexcept {
  return blocks({ahead.kind, ahead.sequence}, {behind.kind, behind.sequence});
}

std::vector<bool> holders(const WaitQueue& queue) {
  std::vector<bool> result;
  // The nodes are in the order of their numbers: of those that may block one, looking at the first is enough.
  const auto first_writer =
      std::ranges::find_if(queue, [](const LockParticipant& one) { return one.kind != LockKind::read; });
  for (auto one = queue.begin(); one != queue.end(); ++one) {
    const auto ahead = one->kind == LockKind::read ? first_writer : queue.begin();
    result.push_back(ahead >= one || !blocks_waiters(*ahead, *one));
  }
  return result;
}

bool has_session(const LockParticipant& one) noexcept {
  const auto owner = static_cast<std::uint64_t>(one.session_id);
  constexpr std::uint64_t container = 0x8000000000000000;
  constexpr std::uint64_t extended = 0xff;  // in the first byte, where a session has its server's number
  return owner != 0 && owner != container && owner >> 56 != extended;
}

std::string name_of_client(const LockParticipant& one) {
  if (!has_session(one)) return "nobody";
  const std::string session = "session " + to_hexadecimal(one.session_id);
  return one.client_id.empty() ? session : one.client_id + " (" + session + ")";
}

}  // namespace zklock::tools
