#include "top_report.hpp"

#include <utility>

namespace zklock::tools {
namespace {

constexpr std::chrono::seconds read_limit{2};

std::vector<TopRow> rows_of(const LockBoard& board, WallTime now) {
  std::vector<TopRow> rows;
  for (const BoardLock* lock : arrange(board)) rows.push_back(row_of(*lock, now));
  return rows;
}

}  // namespace

std::string to_table(const LockBoard& board, WallTime now) { return to_table(rows_of(board, now)); }

std::string to_json_lines(const LockBoard& board, WallTime now) {
  std::string lines;
  for (const TopRow& row : rows_of(board, now)) lines += to_json(row, now);
  return lines;
}

std::string ChangeReport::changes(const TopView& view) {
  std::string lines;
  if (std::exchange(connected_, view.connected) != view.connected)
    lines += link_to_json(view.connected, view.contact, view.now);
  if (std::exchange(missing_, view.missing) != view.missing) lines += base_to_json(base_, !view.missing, view.now);
  std::erase_if(told_, [&](const auto& one) {
    if (view.board.find(one.first) != nullptr) return false;
    lines += gone_to_json(one.first, view.now);
    return true;
  });
  for (const auto& [path, lock] : view.board.locks()) {
    const auto told = told_.find(path);
    if (told != told_.end() && told->second == lock.revision) continue;
    if (!is_complete(lock) && view.now - lock.seen < read_limit) continue;
    lines += to_json(row_of(lock, view.now), view.now);
    told_[path] = lock.revision;
  }
  return lines;
}

}  // namespace zklock::tools
