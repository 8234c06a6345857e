// Which node is first in the wait queue.
#include "queue_position.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <random>

using namespace zklock;

TEST_CASE("a contender waits for the nearest contender ahead of it") {
  using Verdict = QueuePosition::Verdict;
  const std::string a = "_c_b-lock-0000000003";
  const std::string b = "_c_a-lock-0000000007";
  const std::string c = "_c_c-lock-0000000012";
  struct Row {
    std::vector<std::string> children;
    std::string own;
    Verdict verdict;
    std::string predecessor;
  };
  const Row rows[] = {
      {{a}, a, Verdict::first, ""},
      {{c, a, b}, a, Verdict::first, ""},
      {{c, a, b}, b, Verdict::behind, a},
      {{a, b, c}, c, Verdict::behind, b},
      {{a, c}, c, Verdict::behind, a},
      {{a, b}, c, Verdict::missing, ""},
      {{}, a, Verdict::missing, ""},
      {{"junk", "0000000001", "lock-1", a}, a, Verdict::first, ""},
      {{"junk", a}, "junk", Verdict::missing, ""},
      {{"_c_z-lock--000000001", a}, a, Verdict::behind, "_c_z-lock--000000001"},
      {{"_c_x-lock-0000000003", a}, "_c_x-lock-0000000003", Verdict::behind, a},  // a tie: by name
      {{"_c_x-lock-0000000003", a}, a, Verdict::first, ""},
  };
  for (const Row& row : rows) {
    const QueuePosition position = find_position(row.children, row.own, LockKind::mutex);
    CHECK(position.verdict == row.verdict);
    CHECK(position.predecessor == row.predecessor);
  }
}

TEST_CASE("in any order of the list exactly one contender is first, and the others form one chain") {
  std::mt19937 random{7};
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> children;
    for (int i = 0; i < 1 + round % 20; ++i) {
      std::string digits = std::to_string(random() % 2'000'000'000);
      children.push_back("_c_" + std::to_string(i) + "-lock-" + std::string(10 - digits.size(), '0') + digits);
    }
    const std::vector<QueueEntry> line = in_queue_order(children, LockKind::mutex);
    REQUIRE(line.size() == children.size());
    std::shuffle(children.begin(), children.end(), random);
    CHECK(find_position(children, line.front().name, LockKind::mutex).verdict == QueuePosition::Verdict::first);
    for (std::size_t i = 1; i < line.size(); ++i)
      CHECK(find_position(children, line[i].name, LockKind::mutex).predecessor == line[i - 1].name);
  }
}

TEST_CASE("a reader waits for the nearest writer ahead, a writer for the nearest node ahead") {
  using Verdict = QueuePosition::Verdict;
  const std::string reader_1 = "_c_f-__READ__0000000001";
  const std::string writer_2 = "_c_e-__WRIT__0000000002";
  const std::string writer_3 = "_c_d-__WRIT__0000000003";
  const std::string reader_4 = "_c_c-__READ__0000000004";
  const std::string reader_5 = "_c_b-__READ__0000000005";
  const std::string writer_6 = "_c_a-__WRIT__0000000006";
  const std::string mutex_0 = "_c_a-lock-0000000000";
  const std::vector<std::string> all{writer_6, reader_4, mutex_0, reader_1, writer_3, reader_5, writer_2};
  struct Row {
    std::string own;
    LockKind kind;
    Verdict verdict;
    std::string predecessor;
  };
  const Row rows[] = {
      {reader_1, LockKind::read, Verdict::first, ""},         {writer_2, LockKind::write, Verdict::behind, reader_1},
      {writer_3, LockKind::write, Verdict::behind, writer_2}, {reader_4, LockKind::read, Verdict::behind, writer_3},
      {reader_5, LockKind::read, Verdict::behind, writer_3},  {writer_6, LockKind::write, Verdict::behind, reader_5},
      {mutex_0, LockKind::mutex, Verdict::first, ""},         {reader_1, LockKind::write, Verdict::missing, ""},
  };
  for (const Row& row : rows) {
    INFO(row.own);
    const QueuePosition position = find_position(all, row.own, row.kind);
    CHECK(position.verdict == row.verdict);
    CHECK(position.predecessor == row.predecessor);
  }
  std::vector<std::string> line;
  for (const QueueEntry& each : in_queue_order(all, LockKind::read)) line.push_back(each.name);
  CHECK(line == std::vector<std::string>{reader_1, writer_2, writer_3, reader_4, reader_5, writer_6});
}

TEST_CASE("under Kazoo's names Kazoo's nodes are in the wait queue, and Curator's nodes are not") {
  const std::vector<std::string> children{"a__lock__0000000001", "b__rlock__0000000002", "_c_x-lock-0000000000",
                                          "c__lock__0000000003", "d__rlock__0000000004"};
  const auto behind = [&](const char* own, LockKind kind) {
    return find_position(children, own, kind, LockNaming::kazoo).predecessor;
  };
  CHECK(behind("c__lock__0000000003", LockKind::mutex) == "a__lock__0000000001");
  CHECK(behind("c__lock__0000000003", LockKind::write) == "b__rlock__0000000002");
  CHECK(behind("d__rlock__0000000004", LockKind::read) == "c__lock__0000000003");
  CHECK(find_position(children, "a__lock__0000000001", LockKind::write, LockNaming::kazoo).verdict ==
        QueuePosition::Verdict::first);
  CHECK(find_position(children, "a__lock__0000000001", LockKind::mutex).verdict == QueuePosition::Verdict::missing);
}

TEST_CASE("a node's number tells its place behind a node of the client that has had the lock, or is still there") {
  constexpr auto mutex = LockKind::mutex;
  constexpr auto read = LockKind::read;
  constexpr auto write = LockKind::write;
  struct Row {
    AheadState ahead;
    LockKind kind;
    PositionByNumber position;
  };
  // the node ahead: its kind, is present, was granted, has left since the request, waits for a local waiter
  const Row rows[] = {
      {{mutex, true, false, false, true}, mutex, PositionByNumber::behind},
      {{mutex, true, true, false, false}, mutex, PositionByNumber::behind},
      {{mutex, false, true, false, false}, mutex, PositionByNumber::first},
      {{mutex, false, true, true, false}, mutex, PositionByNumber::first},
      {{mutex, false, false, true, false},
       mutex,
       PositionByNumber::unknown},  // it gave up, or an operator has deleted it
      {{write, true, true, false, false}, write, PositionByNumber::behind},
      {{write, false, true, false, false}, write, PositionByNumber::first},
      {{write, false, true, true, false}, write, PositionByNumber::unknown},  // it may have left a reader of its owner
      {{write, false, false, false, false}, write, PositionByNumber::unknown},
      {{write, true, false, false, false}, read, PositionByNumber::behind},
      {{write, false, true, true, false}, read, PositionByNumber::first},
      {{write, false, false, true, false}, read, PositionByNumber::unknown},
      {{read, true, true, false, false}, write, PositionByNumber::behind},
      {{read, false, true, false, false}, write, PositionByNumber::unknown},  // there may be other readers
      {{read, true, true, false, false}, read, PositionByNumber::first},      // no writer was ahead
      {{read, false, true, true, false}, read, PositionByNumber::first},
      {{read, true, false, false, true}, read, PositionByNumber::behind_its_writer},
      {{read, true, false, false, false}, read, PositionByNumber::unknown},  // it waits for another client's writer
      {{read, false, false, true, false}, read, PositionByNumber::unknown},
  };
  for (const Row& row : rows) {
    CAPTURE(to_string(row.ahead.kind), row.ahead.is_present, row.ahead.was_granted, to_string(row.kind));
    CHECK(position_behind(row.ahead, row.kind) == row.position);
  }
}

TEST_CASE("a list shows the node that would block a new one, which is the last that blocks its kind") {
  const std::vector<std::string> children{"_c_a-__READ__0000000009", "_c_b-__WRIT__0000000004", "_c_c-lock-0000000007",
                                          "_c_d-lock-0000000006", "config"};
  CHECK(find_last_blocking(children, LockKind::mutex) == "_c_c-lock-0000000007");
  CHECK(find_last_blocking(children, LockKind::read) == "_c_b-__WRIT__0000000004");
  CHECK(find_last_blocking(children, LockKind::write) == "_c_a-__READ__0000000009");
  CHECK(find_last_blocking({"_c_a-__READ__0000000009", "config"}, LockKind::read).empty());
  CHECK(find_last_blocking(children, LockKind::mutex, LockNaming::kazoo).empty());
}

TEST_CASE("a queue has no writer if only readers wait in it") {
  const std::vector<std::string> readers{"_c_a-__READ__0000000009", "_c_b-__READ__0000000004", "config"};
  CHECK(has_no_writer({}));
  CHECK(has_no_writer(readers));
  CHECK(has_no_writer({"_c_c-lock-0000000007"}));
  CHECK_FALSE(has_no_writer({readers[0], "_c_c-__WRIT__0000000007"}));
  CHECK_FALSE(has_no_writer({"_c_c-__WRIT__0000000007", readers[1]}));
  CHECK(has_no_writer({"aa__rlock__0000000009"}, LockNaming::kazoo));
  CHECK_FALSE(has_no_writer({"aa__rlock__0000000009", "bb__lock__0000000010"}, LockNaming::kazoo));
}
