// The board as the page reads it. All texts are ASCII, without ends of lines.
#pragma once

#include "board/blocking_tree.hpp"
#include "board/lock_board.hpp"
#include "findings.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::tools {

/// An event of text/event-stream.
[[nodiscard]] std::string to_event(std::string_view name, std::string_view json);

struct BoardRow {
  const BoardLock* lock = nullptr;
  bool is_watched = false;
};

[[nodiscard]] std::string snapshot_json(const std::vector<BoardRow>& rows);
[[nodiscard]] std::string delta_json(const std::vector<BoardRow>& changed, const std::vector<std::string>& gone);
/// The lock's first places, and its last events, the latest first.
[[nodiscard]] std::string detail_json(const LockBoard& board, const std::string& lock, std::size_t places,
                                      std::size_t events);
[[nodiscard]] std::string findings_json(const std::vector<Finding>& findings, const std::vector<Blocker>& tree,
                                        const LockBoard& board);

/// How many locks were held and how many clients waited, at a time.
struct TrendPoint {
  std::chrono::system_clock::time_point at;
  std::size_t held = 0;
  std::size_t waiting = 0;
};

struct Greeting {
  std::string stream;
  std::string connect;
  std::vector<std::string> bases;
  bool may_revoke = false;
  std::vector<TrendPoint> trend;
};
[[nodiscard]] std::string greeting_json(const Greeting& greeting);

struct BoardStatus {
  std::chrono::system_clock::time_point now;
  std::chrono::system_clock::time_point contact;
  bool connected = false;
  std::vector<std::string> missing;
  std::size_t reads_per_second = 0;
  std::size_t watches = 0;
  std::size_t viewers = 0;
  std::chrono::milliseconds oldest{};
  const TrendPoint* trend = nullptr;  ///< a new one; null: none
};
[[nodiscard]] std::string status_json(const BoardStatus& status);

}  // namespace zklock::tools
