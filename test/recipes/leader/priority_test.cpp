// The queue of a LeaderLatch, and the priorities in it: decisions on names.
#include "priority.hpp"

#include "queue_position.hpp"
#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace zklock;

namespace {

const std::string uuid = "_c_5f0c1d2e-3a4b-4c5d-8e6f-708192a3b4c5-";
const std::string other = "_c_00000000-0000-0000-0000-000000000000-";

std::string plain(const std::string& number) { return uuid + "latch-" + number; }
std::string ranked(int priority, const std::string& number) {
  return other + priority_prefix(priority) + "latch-" + number;
}

}  // namespace

TEST_CASE("the first candidate of a latch leads, the others wait for the one ahead, whatever else is there") {
  using Verdict = QueuePosition::Verdict;
  struct Row {
    std::string own;
    std::vector<std::string> children;
    Verdict verdict;
    std::string predecessor;
    std::string of_other_kind;
  };
  const std::string first = plain("0000000001");
  const std::string second = ranked(7, "0000000002");
  const std::string third = plain("0000000003");
  const std::string mutex = other + "lock-0000000000";
  const Row rows[] = {
      {first, {first}, Verdict::first, "", ""},
      {first, {third, second, first}, Verdict::first, "", ""},
      {second, {third, second, first}, Verdict::behind, first, ""},
      {third, {third, second, first}, Verdict::behind, second, ""},
      {third, {third, first}, Verdict::behind, first, ""},
      {third, {first, second}, Verdict::missing, "", ""},
      {first, {first, "0000000000", "readme", other + "lease-0000000000"}, Verdict::first, "", ""},
      {first, {first, mutex}, Verdict::first, "", mutex},
  };
  for (const Row& row : rows) {
    INFO(row.own);
    const QueuePosition position = find_position(row.children, row.own, LockKind::latch);
    CHECK(position.verdict == row.verdict);
    CHECK(position.predecessor == row.predecessor);
    CHECK(position.of_other_kind == row.of_other_kind);
  }
  CHECK(find_position({mutex, first}, mutex, LockKind::mutex).of_other_kind == first);
  CHECK(find_position({mutex, first}, mutex, LockKind::mutex).verdict == Verdict::first);
}

TEST_CASE("a latch's priority is the three digits before the marker, and all other names have none") {
  struct Row {
    std::string name;
    int priority;
  };
  const Row rows[] = {
      {ranked(0, "0000000001"), 0},
      {ranked(7, "0000000001"), 7},
      {ranked(999, "0000000001"), 999},
      {uuid + "p007-latch-", 7},
      {plain("0000000001"), lowest_priority},
      {uuid + "p07-latch-0000000001", lowest_priority},
      {uuid + "p0077-latch-0000000001", lowest_priority},
      {uuid + "p+07-latch-0000000001", lowest_priority},
      {uuid + "q007-latch-0000000001", lowest_priority},
      {uuid + "xp007-latch-0000000001", lowest_priority},
      {"p007-latch-0000000001", lowest_priority},
      {"latch-0000000001", lowest_priority},
      {uuid + "p007-lock-0000000001", lowest_priority},
      {uuid + "p007-latch-p003-latch-0000000001", 3},
      {"", lowest_priority},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    CHECK(priority_of(row.name) == row.priority);
  }
}

TEST_CASE("a candidate steps back for a higher priority behind it, and for nothing else") {
  struct Row {
    std::string own;
    std::vector<std::string> children;
    bool steps_back;
  };
  const std::string plain_first = plain("0000000001");
  const std::string low_first = ranked(1, "0000000001");
  const std::string high_first = ranked(9, "0000000001");
  const Row rows[] = {
      {plain_first, {plain_first}, false},
      {plain_first, {plain_first, plain("0000000002")}, false},
      {plain_first, {plain_first, ranked(0, "0000000002")}, true},
      {low_first, {low_first, plain("0000000002")}, false},
      {low_first, {low_first, ranked(1, "0000000002")}, false},
      {low_first, {low_first, ranked(2, "0000000002")}, true},
      {low_first, {low_first, plain("0000000002"), ranked(2, "0000000003")}, true},
      {low_first, {ranked(2, "0000000000"), low_first}, false},
      {low_first, {low_first, other + "p009-lock-0000000002", "p009-latch-x"}, false},
      {high_first, {high_first, ranked(8, "0000000002"), plain("0000000003")}, false},
      {"readme", {ranked(8, "0000000002")}, false},
  };
  for (const Row& row : rows) {
    INFO(row.own);
    CHECK(should_step_back(row.children, row.own) == row.steps_back);
  }
}

TEST_CASE("stepping back ends with the foremost of the highest priority as the leader") {
  for (const std::vector<int>& priorities :
       {std::vector<int>{1, 5, 3, 5, 0}, {0, 0, 0}, {0, 1, 2, 3, 4, 5}, {5, 4, 3}}) {
    std::vector<std::string> queue;
    int number = 0;
    const auto enqueue = [&](int priority) {
      queue.push_back(ranked(priority, "000000" + std::to_string(1000 + number++)));
    };
    for (const int each : priorities) enqueue(each);
    std::size_t steps = 0;
    while (should_step_back(queue, queue.front())) {
      const int own = priority_of(queue.front());
      queue.erase(queue.begin());
      enqueue(own);
      REQUIRE(++steps < priorities.size());
    }
    CHECK(priority_of(queue.front()) == *std::max_element(priorities.begin(), priorities.end()));
  }
}
