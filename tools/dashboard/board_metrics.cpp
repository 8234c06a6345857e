#include "board_metrics.hpp"

#include "printable.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <vector>

namespace zklock::tools {
namespace {

constexpr std::size_t max_locks = 1'000;

std::string label(const std::string& text) {
  std::string result;
  for (const char character : printable(text)) {
    if (character == '"' || character == '\\') result += '\\';
    result += character;
  }
  return "lock=\"" + result + "\"";
}

void head(std::ostream& out, std::string_view name, std::string_view type, std::string_view help) {
  out << "# HELP " << name << " " << help << "\n# TYPE " << name << " " << type << "\n";
}

double seconds(std::chrono::system_clock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

}  // namespace

std::string to_metrics(const LockBoard& board, const BoardFeed::Status& status) {
  std::vector<const BoardLock*> locks;
  for (const auto& [path, lock] : board.locks()) locks.push_back(&lock);
  std::ranges::stable_sort(locks, std::ranges::greater{}, &BoardLock::waiting);
  if (locks.size() > max_locks) locks.resize(max_locks);

  std::ostringstream out;
  out.precision(16);
  head(out, "zklock_queue_length", "gauge", "Clients that hold the lock or wait for it.");
  for (const BoardLock* lock : locks)
    out << "zklock_queue_length{" << label(lock->path) << ",role=\"holding\"} " << lock->holders << "\n"
        << "zklock_queue_length{" << label(lock->path) << ",role=\"waiting\"} " << lock->waiting << "\n";
  head(out, "zklock_queue_head_timestamp_seconds", "gauge", "When the first holder's node was created.");
  for (const BoardLock* lock : locks)
    if (lock->holders > 0 && lock->holder.fencing_token > 0)
      out << "zklock_queue_head_timestamp_seconds{" << label(lock->path) << "} " << seconds(lock->holder.since) << "\n";
  head(out, "zklock_queue_sequence_ratio", "gauge", "How much of the range of sequence numbers is used up.");
  for (const BoardLock* lock : locks)
    if (lock->holders > 0)
      out << "zklock_queue_sequence_ratio{" << label(lock->path) << "} "
          << (lock->holder.sequence < 0 ? 1.0 : lock->holder.sequence / 2147483647.0) << "\n";
  head(out, "zklock_dashboard_reads_total", "counter", "Requests sent to ZooKeeper.");
  out << "zklock_dashboard_reads_total " << status.reads << "\n";
  head(out, "zklock_dashboard_watches", "gauge", "Watches set at ZooKeeper.");
  out << "zklock_dashboard_watches " << status.watches << "\n";
  return out.str();
}

}  // namespace zklock::tools
