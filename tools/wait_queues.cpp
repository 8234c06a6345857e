#include "lines.hpp"

#include <zklock/path.hpp>
#include <zklock/recipes/inter_process_read_write_lock.hpp>
#include <zklock/recipes/inter_process_semaphore.hpp>
#include <zklock/recipes/lock_node.hpp>

#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <utility>

namespace zklock::tools {

namespace {

using Pending = std::future<Line>;

Pending ask_permits(const ClientHandle& client, const std::string& path) {
  const InterProcessSemaphore semaphore{client, path, 1};  // whatever their number
  return semaphore.async_participants(asio::use_future);
}

bool is_directory_of_permits(std::string_view directory) {
  return node_name(directory) == leases_name && parent_path(directory) != "/";
}

Pending ask(const ClientHandle& client, const std::string& directory, LineKind kind) {
  switch (kind) {
    case LineKind::mutex: return InterProcessMutex{client, directory}.async_participants(asio::use_future);
    case LineKind::read_write: return InterProcessReadWriteLock{client, directory}.async_participants(asio::use_future);
    case LineKind::kazoo:
      return InterProcessReadWriteLock{client, directory, LockNaming::kazoo}.async_participants(asio::use_future);
    case LineKind::permit: break;
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

std::optional<LineKind> line_of(std::string_view node_path) noexcept {
  const std::string_view name = node_name(node_path);
  if (const auto node = parse_lock_node(name)) {
    if (node->kind == LockKind::mutex) return LineKind::mutex;
    if (node->kind != LockKind::permit) return LineKind::read_write;
    return is_directory_of_permits(parent_path(node_path)) ? std::optional{LineKind::permit} : std::nullopt;
  }
  for (const LockKind kind : {LockKind::read, LockKind::write})
    if (has_number_behind(name, marker_of(kind, LockNaming::kazoo))) return LineKind::kazoo;
  return std::nullopt;
}

PendingLines::PendingLines(const ClientHandle& client, const std::string& directory)
    : PendingLines{client, directory, {LineKind::mutex, LineKind::read_write, LineKind::kazoo, LineKind::permit}} {}

PendingLines::PendingLines(const ClientHandle& client, const std::string& directory, const std::set<LineKind>& kinds) {
  for (const LineKind kind : kinds)
    if (kind != LineKind::permit || is_directory_of_permits(directory)) lines_.push_back(ask(client, directory, kind));
}

std::vector<Line> PendingLines::get() {
  std::vector<Line> result;
  for (Pending& line : lines_) result.push_back(line.get());
  std::erase_if(result, [](const Line& line) { return line.empty(); });
  return result;
}

std::vector<Line> read_lines(const ClientHandle& client, const std::string& directory) {
  return PendingLines{client, directory}.get();
}

SemaphoreLines read_semaphore(const ClientHandle& client, const std::string& path) {
  // The permits later: who was let in meanwhile is among them.
  Line waiting = ask(client, join_path(path, locks_name), LineKind::mutex).get();
  return {ask_permits(client, path).get(), std::move(waiting)};
}

bool is_held_permit(const SemaphoreLines& semaphore, const Participant& permit) noexcept {
  if (semaphore.waiting.empty()) return true;
  const Participant& first = semaphore.waiting.front();
  return permit.session_id != first.session_id || permit.fencing_token < first.fencing_token;
}

bool keeps_waiting(const Participant& ahead, const Participant& behind) noexcept {
  return keeps_out({ahead.kind, ahead.sequence}, {behind.kind, behind.sequence});
}

std::vector<bool> holders(const Line& line) {
  std::vector<bool> result;
  // In the order of their numbers: of those who may keep one waiting the first is enough.
  const auto first_writer =
      std::ranges::find_if(line, [](const Participant& one) { return one.kind != LockKind::read; });
  for (auto one = line.begin(); one != line.end(); ++one) {
    const auto ahead = one->kind == LockKind::read ? first_writer : line.begin();
    result.push_back(ahead >= one || !keeps_waiting(*ahead, *one));
  }
  return result;
}

bool has_session(const Participant& one) noexcept {
  const auto owner = static_cast<std::uint64_t>(one.session_id);
  constexpr std::uint64_t container = 0x8000000000000000;
  constexpr std::uint64_t extended = 0xff;  // in the first byte, where a session has its server's number
  return owner != 0 && owner != container && owner >> 56 != extended;
}

std::string to_hexadecimal(std::int64_t number) {
  std::ostringstream text;
  text << "0x" << std::hex << number;
  return text.str();
}

std::string name_of_client(const Participant& one) {
  if (!has_session(one)) return "nobody";
  const std::string session = "session " + to_hexadecimal(one.session_id);
  return one.client_id.empty() ? session : one.client_id + " (" + session + ")";
}

}  // namespace zklock::tools
