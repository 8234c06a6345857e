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

Line read_permits(const ClientHandle& client, const std::string& path) {
  const InterProcessSemaphore semaphore{client, path, 1};  // whatever their number
  return semaphore.async_participants(asio::use_future).get();
}

}  // namespace

std::vector<Line> read_lines(const ClientHandle& client, const std::string& directory) {
  const InterProcessMutex mutex{client, directory};
  const InterProcessReadWriteLock read_write{client, directory};
  // All at once.
  auto owners = mutex.async_participants(asio::use_future);
  auto readers_and_writers = read_write.async_participants(asio::use_future);
  std::vector<Line> lines{owners.get(), readers_and_writers.get()};
  if (node_name(directory) == leases_name && parent_path(directory) != "/")
    lines.push_back(read_permits(client, std::string{parent_path(directory)}));
  std::erase_if(lines, [](const Line& line) { return line.empty(); });
  return lines;
}

SemaphoreLines read_semaphore(const ClientHandle& client, const std::string& path) {
  const InterProcessMutex line{client, join_path(path, locks_name)};
  // The permits later: who was let in meanwhile is among them.
  Line waiting = line.async_participants(asio::use_future).get();
  return {read_permits(client, path), std::move(waiting)};
}

bool is_held_permit(const SemaphoreLines& semaphore, const Participant& permit) noexcept {
  if (semaphore.waiting.empty()) return true;
  const Participant& first = semaphore.waiting.front();
  return permit.session_id != first.session_id || permit.fencing_token < first.fencing_token;
}

bool keeps_waiting(const Participant& ahead, const Participant& behind) noexcept {
  return keeps_out({ahead.kind, ahead.sequence}, {behind.kind, behind.sequence});
}

bool is_holder(const Line& line, std::size_t index) noexcept {
  const auto end = line.begin() + static_cast<std::ptrdiff_t>(index);
  return std::none_of(line.begin(), end, [&](const Participant& ahead) { return keeps_waiting(ahead, line[index]); });
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
