#include "board_metrics.hpp"

#include "folded_path.hpp"

#include <zklock/detail/utf8.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::tools {
namespace {

constexpr std::size_t max_labels = 1'000;
constexpr std::string_view other_locks = "(other)";

/// Of the locks that share a label, the longest queue, the oldest holder and the highest number.
struct Numbers {
  std::size_t holding = 0;
  std::size_t waiting = 0;
  std::optional<std::chrono::system_clock::time_point> head;
  std::optional<double> ratio;

  void add(const BoardLock& lock) {
    holding = std::max(holding, lock.holders);
    waiting = std::max(waiting, lock.waiting);
    if (lock.holders == 0) return;
    if (lock.holder.fencing_token > 0) head = std::min(head.value_or(lock.holder.since), lock.holder.since);
    const double used = lock.holder.sequence < 0 ? 1.0 : lock.holder.sequence / 2147483647.0;
    ratio = std::max(ratio.value_or(used), used);
  }
};

struct Labelled {
  std::map<std::string, Numbers> locks;
  std::size_t folded = 0;  ///< locks whose label is that of the others
};

/// Those with the most waiters come first, where not all have a label of their own.
Labelled by_label(const LockBoard& board) {
  std::vector<const BoardLock*> locks;
  for (const auto& [path, lock] : board.locks()) locks.push_back(&lock);
  std::ranges::stable_sort(locks, std::ranges::greater{}, &BoardLock::waiting);
  Labelled result;
  std::size_t own = 0;
  for (const BoardLock* lock : locks) {
    std::string label = web::folded(lock->path);
    // Prometheus refuses a whole scrape for one label that is not UTF-8.
    const bool fits = label.size() <= web::max_label_bytes && detail::is_utf8(label);
    const bool is_known = fits && result.locks.contains(label);
    if (!fits || (!is_known && own == max_labels)) {
      label = other_locks;
      ++result.folded;
    } else if (!is_known) {
      ++own;
    }
    result.locks[std::move(label)].add(*lock);
  }
  return result;
}

std::string quoted_label(std::string_view text) {
  std::string result = "lock=\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') result += '\\';
    if (character == '\n') {
      result += "\\n";
    } else {
      result += character;
    }
  }
  return result + '"';
}

void head(std::ostream& out, std::string_view name, std::string_view type, std::string_view help) {
  out << "# HELP " << name << " " << help << "\n# TYPE " << name << " " << type << "\n";
}

double seconds(std::chrono::system_clock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

}  // namespace

std::string to_metrics(const LockBoard& board, const BoardFeed::Status& status) {
  const Labelled labelled = by_label(board);
  std::ostringstream out;
  out.precision(16);
  head(out, "zklock_queue_length", "gauge", "Clients that hold the lock or wait for it.");
  for (const auto& [label, lock] : labelled.locks)
    out << "zklock_queue_length{" << quoted_label(label) << ",role=\"holding\"} " << lock.holding << "\n"
        << "zklock_queue_length{" << quoted_label(label) << ",role=\"waiting\"} " << lock.waiting << "\n";
  head(out, "zklock_queue_head_timestamp_seconds", "gauge", "When the first holder's node was created.");
  for (const auto& [label, lock] : labelled.locks)
    if (lock.head)
      out << "zklock_queue_head_timestamp_seconds{" << quoted_label(label) << "} " << seconds(*lock.head) << "\n";
  head(out, "zklock_queue_sequence_ratio", "gauge", "How much of the range of sequence numbers is used up.");
  for (const auto& [label, lock] : labelled.locks)
    if (lock.ratio) out << "zklock_queue_sequence_ratio{" << quoted_label(label) << "} " << *lock.ratio << "\n";
  head(out, "zklock_dashboard_locks", "gauge", "Locks that the dashboard knows.");
  out << "zklock_dashboard_locks " << board.locks().size() << "\n";
  head(out, "zklock_dashboard_locks_folded", "gauge", "Locks that have the label (other).");
  out << "zklock_dashboard_locks_folded " << labelled.folded << "\n";
  head(out, "zklock_dashboard_reads_total", "counter", "Requests sent to ZooKeeper.");
  out << "zklock_dashboard_reads_total " << status.reads << "\n";
  head(out, "zklock_dashboard_watches", "gauge", "Watches set at ZooKeeper.");
  out << "zklock_dashboard_watches " << status.watches << "\n";
  return out.str();
}

}  // namespace zklock::tools
