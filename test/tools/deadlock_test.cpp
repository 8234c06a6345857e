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
Line line(const std::string& lock, const std::vector<Stand>& stands) {
  Line result;
  for (const Stand& stand : stands) {
    Participant one;
    one.kind = stand.kind;
    one.session_id = stand.session;
    one.sequence = static_cast<std::int32_t>(result.size()) + 1;
    one.node_path = "/" + lock + "/" + std::to_string(one.sequence);
    result.push_back(one);
  }
  return result;
}

/// "x/2>x/1 y/2>y/1": who waits for whom, for each circle.
std::vector<std::string> circles(const std::vector<Line>& lines) {
  std::vector<std::string> result;
  for (const Circle& circle : find_deadlocks(lines)) {
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
    std::vector<Line> lines;
    Texts circles;
  };
  const Row rows[] = {
      {"nobody", {}, {}},
      {"one waits", {line("x", {{mutex, a}, {mutex, b}})}, {}},
      {"two wait for each other",
       {line("x", {{mutex, a}, {mutex, b}}), line("y", {{mutex, b}, {mutex, a}})},
       {"y/2>y/1 x/2>x/1"}},
      {"a chain is no circle",
       {line("x", {{mutex, a}, {mutex, b}}), line("y", {{mutex, b}, {mutex, c}}), line("z", {{mutex, c}})},
       {}},
      {"three wait for each other",
       {line("x", {{mutex, a}, {mutex, c}}), line("y", {{mutex, b}, {mutex, a}}), line("z", {{mutex, c}, {mutex, b}})},
       {"y/2>y/1 z/2>z/1 x/2>x/1"}},
      {"who waits in between is not to blame",
       {line("x", {{mutex, a}, {mutex, c}, {mutex, b}}), line("y", {{mutex, b}, {mutex, a}})},
       {"y/2>y/1 x/3>x/1"}},
      {"a client that waits for itself has several threads", {line("x", {{mutex, a}, {mutex, a}})}, {}},
      {"one that only waits, in two lines, holds nobody up for ever",
       {line("x", {{mutex, c}, {mutex, a}, {mutex, b}}), line("y", {{mutex, c}, {mutex, b}, {mutex, a}})},
       {}},
      {"readers do not wait for readers",
       {line("x", {{reader, a}, {reader, b}}), line("y", {{reader, b}, {reader, a}})},
       {}},
      {"a writer waits for each reader in front",
       {line("x", {{reader, c}, {reader, a}, {reader, c}, {writer, b}}), line("y", {{mutex, b}, {mutex, a}})},
       {"y/2>y/1 x/4>x/2"}},
      {"a reader waits for the writer who waits for a reader",
       {line("x", {{reader, a}, {writer, c}, {reader, b}}), line("y", {{mutex, b}, {mutex, a}})},
       {"y/2>y/1 x/3>x/2 x/2>x/1"}},
      {"two circles",
       {line("w", {{mutex, a}, {mutex, b}}), line("x", {{mutex, b}, {mutex, a}}), line("y", {{mutex, 1}, {mutex, 2}}),
        line("z", {{mutex, 2}, {mutex, 1}})},
       {"x/2>x/1 w/2>w/1", "z/2>z/1 y/2>y/1"}},
      {"persistent nodes are no client",
       {line("x", {{mutex, nobody}, {mutex, b}}), line("y", {{mutex, b}, {mutex, nobody}})},
       {}},
  };
  for (const Row& row : rows) {
    INFO(row.title);
    CHECK(circles(row.lines) == row.circles);
  }
}

TEST_CASE("a writer and its own reader hold the lock together, and keep the next writer out") {
  Line downgrade = line("x", {{writer, a}, {reader, a}, {writer, b}});
  downgrade[1].sequence = 1;
  CHECK(holders(downgrade) == std::vector<bool>{true, true, false});
  CHECK(circles({downgrade, line("y", {{mutex, b}, {mutex, a}})}) == std::vector<std::string>{"y/2>y/1 x/3>x/1"});
}

TEST_CASE("a line is stuck when somebody waits and its first was the first before") {
  const auto now = std::chrono::system_clock::now();
  const Line busy = line("x", {{mutex, a}, {mutex, b}});
  const auto stuck = [&](const Line& before, const Line& still_there) {
    Survey first;
    first.directories.push_back({"/x", {before}, {}, {}});
    return find_stuck(first, {still_there}, {2s, 0s, now}).size();
  };
  CHECK(stuck(busy, busy) == 1);
  CHECK(stuck(busy, {busy[0]}) == 0);
  CHECK(stuck(line("x", {{mutex, c}, {mutex, a}, {mutex, b}}), {busy.begin() + 1, busy.end()}) == 0);
  const Line moved = line("x", {{mutex, a}, {mutex, b}, {mutex, c}});
  CHECK(stuck(moved, {moved.begin() + 1, moved.end()}) == 0);
  const Line readers = line("x", {{reader, a}, {reader, b}});
  CHECK(stuck(readers, readers) == 0);
}

TEST_CASE("a line is stuck once the next in it has waited for long, and all who wait are counted") {
  const auto now = std::chrono::system_clock::now();
  std::vector<Stand> stands{{reader, a}, {writer, b}};
  stands.insert(stands.end(), 3'000, {reader, c});
  Line many = line("x", stands);
  for (Participant& one : many) one.since = now - 1h;
  many[1].since = now - 61s;
  Survey first;
  first.directories.push_back({"/x", {many}, {}, {}});
  CHECK(find_stuck(first, {many}, {2s, 62s, now}).empty());
  const auto findings = find_stuck(first, {many}, {2s, 60s, now});
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].what.starts_with("3001 waiters behind it, the next for 1m01s, and nothing has moved for 2s"));
}

TEST_CASE("each in line is a holder whom nobody keeps waiting") {
  const auto agrees = [](const Line& all) {
    const auto granted = holders(all);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto is_ahead_of_it = [&](const Participant& one) { return keeps_waiting(one, all[i]); };
      if (granted[i] == std::any_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i), is_ahead_of_it))
        return false;
    }
    return true;
  };
  for (std::size_t drawn = 0; drawn < 64; ++drawn) {  // six readers and writers in each order
    std::vector<Stand> stands;
    for (std::size_t i = 0; i < 6; ++i) stands.push_back({(drawn >> i & 1U) != 0 ? reader : writer, a});
    CHECK(agrees(line("x", stands)));
  }
  CHECK(agrees(line("x", {{mutex, a}, {mutex, b}, {mutex, c}})));
  CHECK(agrees(line("leases", {{LockKind::permit, a}, {LockKind::permit, b}})));
}

TEST_CASE("knots of clients are found in a time that grows with their number, one circle for each") {
  std::vector<Line> lines;
  for (std::int64_t one = 1'000; one < 5'000; one += 2) {
    lines.push_back(line("x" + std::to_string(one), {{mutex, one}, {mutex, one + 1}}));
    lines.push_back(line("y" + std::to_string(one), {{mutex, one + 1}, {mutex, one}}));
  }
  // A ring of many, one client that holds much and waits for much, and a long line.
  for (std::int64_t i = 0; i < 2'000; ++i)
    lines.push_back(line("r" + std::to_string(i), {{mutex, 100'000 + i}, {mutex, 100'000 + (i + 1) % 2'000}}));
  for (std::int64_t i = 0; i < 500; ++i)
    lines.push_back(line("m" + std::to_string(i), {{mutex, a}, {mutex, 200'000 + i}}));
  for (std::int64_t i = 0; i < 500; ++i)
    lines.push_back(line("n" + std::to_string(i), {{mutex, 300'000 + i}, {mutex, a}}));
  std::vector<Stand> stands(2'000, {reader, b});
  for (std::size_t i = 0; i < stands.size(); i += 2) stands[i].kind = writer;
  lines.push_back(line("z", stands));
  const std::clock_t begin = std::clock();
  const auto found = find_deadlocks(lines);
  CHECK((std::clock() - begin) / CLOCKS_PER_SEC < 20);  // of our own; minutes, by a search from each node
  REQUIRE(found.size() == 2'001);
  CHECK(found[0].size() == 2);
  CHECK(found.back().size() == 2'000);
}

TEST_CASE("containers and nodes with a time to live belong to no session") {
  Participant one;
  for (const std::uint64_t owner : {0x0ULL, 0x8000000000000000ULL, 0xff00000000000bb8ULL}) {
    one.session_id = static_cast<std::int64_t>(owner);
    CHECK_FALSE(has_session(one));
  }
  for (const std::uint64_t owner : {0x1000a2b00000001ULL, 0x8000000000000001ULL, 0xfe00000000000001ULL}) {
    one.session_id = static_cast<std::int64_t>(owner);
    CHECK(has_session(one));
  }
}
