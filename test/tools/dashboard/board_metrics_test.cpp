// The dashboard's /metrics.
#include "dashboard/board_metrics.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <sstream>
#include <string>

using namespace zklock;
using namespace zklock::tools;
using namespace std::chrono_literals;

namespace {

const LockBoard::Time start{1'800'000'000s};

std::string mutex(int value) {
  const std::string digits = std::to_string(value);
  return "_c_00000000-0000-0000-0000-000000000000-lock-" + std::string(10 - digits.size(), '0') + digits;
}

/// A lock with so many in its queue, whose holder's node was created then.
void add(LockBoard& board, const std::string& path, int queue, LockBoard::Time created = start) {
  std::vector<std::string> names;
  for (int i = 1; i <= queue; ++i) names.push_back(mutex(i));
  board.listed(path, names, start);
  DataResult node;
  node.data = "one:1";
  node.stat.ephemeral_owner = 0xa;
  node.stat.czxid = 5;
  node.stat.created = created;
  board.node_read(path + "/" + mutex(1), node, start);
}

std::string metrics_of(const LockBoard& board) { return to_metrics(board, {}); }

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

std::size_t labels_in(const std::string& text) {
  std::istringstream lines{text};
  std::size_t labels = 0;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("zklock_queue_length{") && line.find("role=\"waiting\"") != std::string::npos) ++labels;
  return labels;
}

}  // namespace

TEST_CASE("a lock's label is its path, escaped once") {
  LockBoard board;
  add(board, "/locks/a\\b\"c", 3);
  CHECK(has_line(metrics_of(board), R"(zklock_queue_length{lock="/locks/a\\b\"c",role="waiting"} 2)"));
}

TEST_CASE("locks with ids in their names share a label, which has the longest queue and the oldest holder") {
  LockBoard board;
  add(board, "/rows/123456", 4, start + 7s);
  add(board, "/rows/123457", 2, start);
  add(board, "/rows/123e4567-e89b-12d3-a456-426614174000", 1, start + 3s);
  const std::string text = metrics_of(board);
  CHECK(labels_in(text) == 1);
  CHECK(has_line(text, R"(zklock_queue_length{lock="/rows/*",role="holding"} 1)"));
  CHECK(has_line(text, R"(zklock_queue_length{lock="/rows/*",role="waiting"} 3)"));
  CHECK(has_line(text, R"(zklock_queue_head_timestamp_seconds{lock="/rows/*"} 1800000000)"));
  CHECK(has_line(text, "zklock_dashboard_locks 3"));
  CHECK(has_line(text, "zklock_dashboard_locks_folded 0"));
}

TEST_CASE("locks beyond the limit, with too long a name, or one that is no text, have one label, and are counted") {
  LockBoard board;
  for (int i = 1; i <= 1'010; ++i) add(board, "/locks/" + std::to_string(i), i <= 1'000 ? 2 : 1);
  add(board, "/locks/" + std::string(1'000, 'x'), 3);
  add(board, "/locks/\xFF", 3);
  const std::string text = metrics_of(board);
  CHECK(labels_in(text) == 1'001);
  CHECK(has_line(text, "zklock_dashboard_locks 1012"));
  CHECK(has_line(text, "zklock_dashboard_locks_folded 12"));
  CHECK(has_line(text, "zklock_queue_length{lock=\"(other)\",role=\"waiting\"} 2"));
  CHECK(has_line(text, R"(zklock_queue_length{lock="/locks/1000",role="waiting"} 1)"));
  CHECK(text.find("xxxx") == std::string::npos);
  CHECK(text.find('\xFF') == std::string::npos);
}
