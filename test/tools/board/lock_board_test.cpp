// The model of all locks, fed by hand.
#include "board/lock_board.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace zklock;
using namespace zklock::tools;
using namespace std::chrono_literals;

namespace {

const LockBoard::Time start{1'800'000'000s};

std::string number(int value) {
  std::string digits = std::to_string(value);
  return std::string(10 - digits.size(), '0') + digits;
}
std::string mutex(int value) { return "_c_00000000-0000-0000-0000-000000000000-lock-" + number(value); }

DataResult node(const std::string& data, std::int64_t session, std::int64_t czxid) {
  DataResult result;
  result.data = data;
  result.stat.ephemeral_owner = session;
  result.stat.czxid = czxid;
  result.stat.created = start;
  return result;
}

/// "kind holders waiting"
std::string brief(const LockBoard& board, const std::string& lock) {
  const BoardLock* row = board.find(lock);
  if (row == nullptr) return "none";
  return row->kind + " " + std::to_string(row->holders) + " " + std::to_string(row->waiting);
}

std::string history(const LockBoard& board, const std::string& lock) {
  std::string text;
  for (const BoardEvent& event : board.history(lock))
    text += (event.what == BoardEvent::What::granted ? "+" : "-") + event.one.client_id + " ";
  return text;
}

}  // namespace

TEST_CASE("the names of a directory's children tell the lock's kind, its holders and its waiters") {
  struct Case {
    const char* title;
    std::vector<std::string> names;
    const char* expected;
  };
  const auto [title, names, expected] = GENERATE(values<Case>({
      {"one holder", {mutex(3)}, "mutex 1 0"},
      {"a holder and waiters, listed in any order", {mutex(7), mutex(3), mutex(5)}, "mutex 1 2"},
      {"readers share", {"a__READ__" + number(1), "b__READ__" + number(2)}, "read-write 2 0"},
      {"a writer waits, and a reader behind it",
       {"a__READ__" + number(1), "b__WRIT__" + number(2), "c__READ__" + number(3)},
       "read-write 1 2"},
      {"a writer holds", {"a__WRIT__" + number(1), "b__READ__" + number(2)}, "read-write 1 1"},
      {"Kazoo's names", {"a__lock__" + number(1), "b__rlock__" + number(2), "c__rlock__" + number(3)}, "kazoo 1 2"},
      {"Kazoo's readers", {"a__rlock__" + number(1), "b__rlock__" + number(2)}, "kazoo 2 0"},
      {"two kinds on one path", {mutex(1), "b__WRIT__" + number(2)}, "mixed 2 0"},
      {"no lock at all", {"clock-tower", "x"}, "none"},
      {"a negative number after the counter's overflow", {mutex(1), "a-lock--2147483647"}, "mutex 1 1"},
      {"an empty directory", {}, "none"},
  }));
  INFO(title);
  LockBoard board;
  board.listed("/locks/a", names, start);
  CHECK(brief(board, "/locks/a") == expected);
}

TEST_CASE("a listing shows which directories have appeared, and which are gone with their locks") {
  LockBoard board;
  CHECK(board.listed("/locks", {"b", "a", mutex(1)}, start).appeared ==
        std::vector<std::string>{"/locks/a", "/locks/b"});
  board.listed("/locks/a", {mutex(1)}, start);
  board.listed("/locks/a-b", {mutex(1)}, start);
  board.listed("/locks/a/deep", {mutex(1)}, start);
  const auto changes = board.listed("/locks", {"b", "c"}, start);
  CHECK(changes.appeared == std::vector<std::string>{"/locks/c"});
  CHECK(changes.deleted == std::vector<std::string>{"/locks/a"});
  CHECK(board.find("/locks/a") == nullptr);
  CHECK(board.find("/locks/a/deep") == nullptr);
  CHECK(board.find("/locks/a-b") != nullptr);
  CHECK(board.removals().size() == 2);
}

TEST_CASE("a lock that nobody uses any more stays as long as its directory") {
  LockBoard board;
  board.listed("/locks/a", {mutex(1)}, start);
  board.listed("/locks/a", {}, start + 1s);
  CHECK(brief(board, "/locks/a") == "mutex 0 0");
  board.gone("/locks/a", start + 2s);
  CHECK(brief(board, "/locks/a") == "none");
}

TEST_CASE("data are read of the holders and of the first waiters, once for each node") {
  LockBoard board;
  board.listed("/a", {mutex(1), mutex(2), mutex(3), mutex(4)}, start);
  CHECK(board.unread("/a", 0) == std::vector<std::string>{"/a/" + mutex(1)});
  CHECK(board.unread("/a", 2).size() == 3);
  const auto revision = board.revision();
  board.node_read("/a/" + mutex(1), node("host-1:2", 0x1000, 77), start);
  CHECK(board.revision() > revision);
  const BoardLock* row = board.find("/a");
  REQUIRE(row != nullptr);
  CHECK(row->holder.client_id == "host-1");
  CHECK(row->holder.count == 2);
  CHECK(row->holder.session_id == 0x1000);
  CHECK(row->holder.fencing_token == 77);
  CHECK(row->holder.since == start);
  board.node_unreadable("/a/" + mutex(2));
  CHECK(board.unread("/a", 1).empty());
  board.listed("/a", {mutex(1), mutex(2), mutex(3)}, start);
  CHECK(board.find("/a")->holder.client_id == "host-1");
  CHECK(board.unread("/a", 2) == std::vector<std::string>{"/a/" + mutex(3)});
}

TEST_CASE("a revision grows with each change, and with nothing else") {
  LockBoard board;
  board.listed("/a", {mutex(1), mutex(2)}, start);
  const auto revision = board.revision();
  board.listed("/a", {mutex(2), mutex(1)}, start + 1s);
  CHECK(board.revision() == revision);
  CHECK(board.find("/a")->seen == start + 1s);
  board.listed("/a", {mutex(2)}, start + 2s);
  CHECK(board.revision() > revision);
}

TEST_CASE("a semaphore is one lock: its permits hold, its wait queue waits") {
  LockBoard board;
  const std::string locks = "/s/locks";
  const std::string leases = "/s/leases";
  board.listed(locks, {mutex(4), mutex(5)}, start);
  CHECK(brief(board, locks) == "mutex 1 1");
  board.listed(leases, {"x-lease-" + number(1), "x-lease-" + number(2), "x-lease-" + number(3)}, start);
  CHECK(brief(board, locks) == "none");
  CHECK(brief(board, "/s") == "semaphore 3 2");
  CHECK(board.directories_of("/s") == std::vector<std::string>{leases, locks});

  // The first waiter has created the third permit since it enqueued: it does not hold it yet.
  board.node_read(locks + "/" + mutex(4), node("next:1", 0xb, 100), start);
  board.node_read(leases + "/x-lease-" + number(3), node("next:1", 0xb, 101), start);
  board.node_read(leases + "/x-lease-" + number(1), node("one:1", 0xa, 50), start);
  CHECK(brief(board, "/s") == "semaphore 2 2");
  board.gone(locks, start);
  CHECK(brief(board, "/s") == "semaphore 3 0");
  board.gone(leases, start);
  CHECK(brief(board, "/s") == "none");
}

TEST_CASE("the history has each holder that was seen, also when its data were read later") {
  LockBoard board;
  board.listed("/a", {mutex(1), mutex(2)}, start);
  board.node_read("/a/" + mutex(1), node("one:1", 0xa, 5), start);
  board.listed("/a", {mutex(2)}, start + 3s);
  board.node_read("/a/" + mutex(2), node("two:1", 0xb, 6), start + 4s);
  board.gone("/a", start + 9s);
  CHECK(history(board, "/a") == "+one -one +two -two ");
  CHECK(board.history("/a")[1].held == 3s);
  CHECK(board.history("/a")[3].held == 6s);
}

TEST_CASE("a holder that is asked for its lock keeps the name that was read of it before") {
  LockBoard board;
  board.listed("/a", {mutex(1)}, start);
  board.node_read("/a/" + mutex(1), node("one:2", 0xa, 5), start);
  for (const auto when : {start + 1s, start + 2s}) {
    board.node_read("/a/" + mutex(1), node("__REVOKE__", 0xa, 5), when);
    const LockParticipant& holder = board.find("/a")->holder;
    CHECK(holder.revocation_requested);
    CHECK(holder.client_id == "one");
    CHECK(holder.count == 2);
  }
  CHECK(board.survey().directories.at(0).queues.at(0).at(0).client_id == "one");

  // another node of that name is another client's
  board.node_read("/a/" + mutex(1), node("__REVOKE__", 0xb, 9), start + 3s);
  CHECK(board.find("/a")->holder.client_id.empty());
}

TEST_CASE("a lock's history is bounded") {
  LockBoard board;
  for (int i = 1; i <= 1'000; ++i) board.listed("/a", {mutex(i)}, start);
  CHECK(board.history("/a").size() == 500);
}

TEST_CASE("what could not be read is said, and what was read stays") {
  LockBoard board;
  board.listed("/a", {mutex(1)}, start);
  board.unreadable("/a", start + 1s);
  CHECK(brief(board, "/a") == "mutex 1 0");
  CHECK_FALSE(board.find("/a")->readable);
  CHECK(board.survey().unreadable == std::vector<std::string>{"/a"});
}
