// Clients that wait for each other.
#include "deadlock.hpp"

#include "findings.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <string>
#include <vector>

using namespace zklock;
using namespace zklock::tools;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t a = 0xa;
constexpr std::int64_t b = 0xb;
constexpr std::int64_t c = 0xc;
constexpr std::int64_t nobody = 0;
constexpr auto mutex = LockKind::mutex;
constexpr auto reader = LockKind::read;
constexpr auto writer = LockKind::write;

struct Stand {
  LockKind kind;
  std::int64_t session;
};

/// Nodes "/<lock>/<number>", numbered from 1 on.
WaitQueue queue(const std::string& lock, const std::vector<Stand>& stands) {
  WaitQueue result;
  for (const Stand& stand : stands) {
    LockParticipant one;
    one.kind = stand.kind;
    one.session_id = stand.session;
    one.sequence = static_cast<std::int32_t>(result.size()) + 1;
    one.node_path = "/" + lock + "/" + std::to_string(one.sequence);
    result.push_back(one);
  }
  return result;
}

/// "x/2>x/1 y/2>y/1": which node waits for which, for each circle.
std::vector<std::string> circles(const std::vector<WaitQueue>& queues) {
  std::vector<std::string> result;
  for (const Circle& circle : find_deadlocks(queues)) {
    std::string text;
    for (const Wait& wait : circle)
      text += (text.empty() ? "" : " ") + wait.waiting.node_path.substr(1) + ">" + wait.ahead.node_path.substr(1);
    result.push_back(text);
  }
  return result;
}

}  // namespace

TEST_CASE("clients that wait for each other in a circle are found, of any length, and no others") {
  using Texts = std::vector<std::string>;
  struct Row {
    std::string title;
    std::vector<WaitQueue> queues;
    Texts circles;
  };
  const Row rows[] = {
      {"nobody", {}, {}},
      {"one waits", {queue("x", {{mutex, a}, {mutex, b}})}, {}},
      {"two wait for each other",
       {queue("x", {{mutex, a}, {mutex, b}}), queue("y", {{mutex, b}, {mutex, a}})},
       {"y/2>y/1 x/2>x/1"}},
      {"a chain is no circle",
       {queue("x", {{mutex, a}, {mutex, b}}), queue("y", {{mutex, b}, {mutex, c}}), queue("z", {{mutex, c}})},
       {}},
      {"three wait for each other",
       {queue("x", {{mutex, a}, {mutex, c}}), queue("y", {{mutex, b}, {mutex, a}}),
        queue("z", {{mutex, c}, {mutex, b}})},
       {"y/2>y/1 z/2>z/1 x/2>x/1"}},
      {"who waits in between is not to blame",
       {queue("x", {{mutex, a}, {mutex, c}, {mutex, b}}), queue("y", {{mutex, b}, {mutex, a}})},
       {"y/2>y/1 x/3>x/1"}},
      {"a client that waits for itself has several threads", {queue("x", {{mutex, a}, {mutex, a}})}, {}},
      {"one that only waits, in two queues, holds nobody up for ever",
       {queue("x", {{mutex, c}, {mutex, a}, {mutex, b}}), queue("y", {{mutex, c}, {mutex, b}, {mutex, a}})},
       {}},
      {"readers do not wait for readers",
       {queue("x", {{reader, a}, {reader, b}}), queue("y", {{reader, b}, {reader, a}})},
       {}},
      {"a writer waits for each reader in front",
       {queue("x", {{reader, c}, {reader, a}, {reader, c}, {writer, b}}), queue("y", {{mutex, b}, {mutex, a}})},
       {"y/2>y/1 x/4>x/2"}},
      {"a reader waits for the writer who waits for a reader",
       {queue("x", {{reader, a}, {writer, c}, {reader, b}}), queue("y", {{mutex, b}, {mutex, a}})},
       {"y/2>y/1 x/3>x/2 x/2>x/1"}},
      {"two circles",
       {queue("w", {{mutex, a}, {mutex, b}}), queue("x", {{mutex, b}, {mutex, a}}),
        queue("y", {{mutex, 1}, {mutex, 2}}), queue("z", {{mutex, 2}, {mutex, 1}})},
       {"x/2>x/1 w/2>w/1", "z/2>z/1 y/2>y/1"}},
      {"persistent nodes are no client",
       {queue("x", {{mutex, nobody}, {mutex, b}}), queue("y", {{mutex, b}, {mutex, nobody}})},
       {}},
  };
  for (const Row& row : rows) {
    INFO(row.title);
    CHECK(circles(row.queues) == row.circles);
  }
}

TEST_CASE("a writer and its own reader hold the lock together, and block the next writer") {
  WaitQueue downgrade = queue("x", {{writer, a}, {reader, a}, {writer, b}});
  downgrade[1].sequence = 1;
  CHECK(holders(downgrade) == std::vector<bool>{true, true, false});
  CHECK(circles({downgrade, queue("y", {{mutex, b}, {mutex, a}})}) == std::vector<std::string>{"y/2>y/1 x/3>x/1"});
}

TEST_CASE("a wait queue is stuck when it has a waiter and its first node was the first before") {
  const auto now = std::chrono::system_clock::now();
  const WaitQueue busy = queue("x", {{mutex, a}, {mutex, b}});
  const auto stuck = [&](const WaitQueue& before, const WaitQueue& still_there) {
    Survey first;
    first.directories.push_back({"/x", {before}, {}, {}});
    return find_stuck(first, {still_there}, {2s, 0s, now}).size();
  };
  CHECK(stuck(busy, busy) == 1);
  CHECK(stuck(busy, {busy[0]}) == 0);
  CHECK(stuck(queue("x", {{mutex, c}, {mutex, a}, {mutex, b}}), {busy.begin() + 1, busy.end()}) == 0);
  const WaitQueue moved = queue("x", {{mutex, a}, {mutex, b}, {mutex, c}});
  CHECK(stuck(moved, {moved.begin() + 1, moved.end()}) == 0);
  const WaitQueue readers = queue("x", {{reader, a}, {reader, b}});
  CHECK(stuck(readers, readers) == 0);
}

TEST_CASE("a wait queue is stuck once its next waiter has waited for long, and all waiters are counted") {
  const auto now = std::chrono::system_clock::now();
  std::vector<Stand> stands{{reader, a}, {writer, b}};
  stands.insert(stands.end(), 3'000, {reader, c});
  WaitQueue many = queue("x", stands);
  for (LockParticipant& one : many) one.since = now - 1h;
  many[1].since = now - 61s;
  Survey first;
  first.directories.push_back({"/x", {many}, {}, {}});
  CHECK(find_stuck(first, {many}, {2s, 62s, now}).empty());
  const auto findings = find_stuck(first, {many}, {2s, 60s, now});
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].what.starts_with("3001 waiters behind it, the next for 1m01s, and nothing has moved for 2s"));
}

TEST_CASE("each node of a wait queue that no node ahead blocks is a holder") {
  const auto agrees = [](const WaitQueue& all) {
    const auto granted = holders(all);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto is_ahead_of_it = [&](const LockParticipant& one) { return blocks_waiters(one, all[i]); };
      if (granted[i] == std::any_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i), is_ahead_of_it))
        return false;
    }
    return true;
  };
  for (std::size_t drawn = 0; drawn < 64; ++drawn) {  // six readers and writers in each order
    std::vector<Stand> stands;
    for (std::size_t i = 0; i < 6; ++i) stands.push_back({(drawn >> i & 1U) != 0 ? reader : writer, a});
    CHECK(agrees(queue("x", stands)));
  }
  CHECK(agrees(queue("x", {{mutex, a}, {mutex, b}, {mutex, c}})));
  CHECK(agrees(queue("leases", {{LockKind::permit, a}, {LockKind::permit, b}})));
}

TEST_CASE("deadlocked groups of clients are found in a time that grows with their number, one circle for each") {
  std::vector<WaitQueue> queues;
  for (std::int64_t one = 1'000; one < 5'000; one += 2) {
    queues.push_back(queue("x" + std::to_string(one), {{mutex, one}, {mutex, one + 1}}));
    queues.push_back(queue("y" + std::to_string(one), {{mutex, one + 1}, {mutex, one}}));
  }
  // A ring of many clients, a client that holds much and waits for much, and a long wait queue.
  for (std::int64_t i = 0; i < 2'000; ++i)
    queues.push_back(queue("r" + std::to_string(i), {{mutex, 100'000 + i}, {mutex, 100'000 + (i + 1) % 2'000}}));
  for (std::int64_t i = 0; i < 500; ++i)
    queues.push_back(queue("m" + std::to_string(i), {{mutex, a}, {mutex, 200'000 + i}}));
  for (std::int64_t i = 0; i < 500; ++i)
    queues.push_back(queue("n" + std::to_string(i), {{mutex, 300'000 + i}, {mutex, a}}));
  std::vector<Stand> stands(2'000, {reader, b});
  for (std::size_t i = 0; i < stands.size(); i += 2) stands[i].kind = writer;
  queues.push_back(queue("z", stands));
  const std::clock_t begin = std::clock();
  const auto found = find_deadlocks(queues);
  CHECK((std::clock() - begin) / CLOCKS_PER_SEC < 20);  // of this process; minutes, by a search from each node
  REQUIRE(found.size() == 2'001);
  CHECK(found[0].size() == 2);
  CHECK(found.back().size() == 2'000);
}

TEST_CASE("containers and nodes with a time to live belong to no session") {
  LockParticipant one;
  for (const std::uint64_t owner : {0x0ULL, 0x8000000000000000ULL, 0xff00000000000bb8ULL}) {
    one.session_id = static_cast<std::int64_t>(owner);
    CHECK_FALSE(has_session(one));
  }
  for (const std::uint64_t owner : {0x1000a2b00000001ULL, 0x8000000000000001ULL, 0xfe00000000000001ULL}) {
    one.session_id = static_cast<std::int64_t>(owner);
    CHECK(has_session(one));
  }
}
