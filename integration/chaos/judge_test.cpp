// The judge as a whole, and the logs that it reads.
#include "judge_story.hpp"
#include "register.hpp"
#include "support/catch.hpp"
#include "truce.hpp"

using namespace zklock;
using namespace zklock::chaos;

TEST_CASE("the judge finds nothing in a history in which nothing is wrong") {
  Story story = handed_off();
  for (const Invariant& each : invariants()) {
    INFO(each.name);
    CHECK(each.check(story.tell()).empty());
  }
  CHECK(longest_handoff(story.tell()) == 200);
}

TEST_CASE("a time is quiet when no trouble and no aftermath touches it") {
  Story story = handed_off();  // from 9.5 s to 20 s
  CHECK(story.tell().quiet_time() == std::chrono::microseconds{10'500'000});
  story.fault(10, "client_paused", 1, Event::fault, 1).fault(11, "client_paused", 1, Event::healed, 1);
  story.fault(12, "node_deleted", 2);
  const Evidence& evidence = story.tell();
  CHECK(evidence.quiet_time() == std::chrono::microseconds{4'500'000});  // to 10 s, and from 16 s
  CHECK_FALSE(evidence.is_quiet({10 * second, 11 * second}, 1));
  CHECK(evidence.is_quiet({10 * second, 11 * second}, 2));
  CHECK_FALSE(evidence.is_quiet({14 * second, 15 * second}, 2));
  CHECK(evidence.is_quiet({16 * second + 1, 18 * second}, 1));
}

TEST_CASE("a process has the troubled links of the process that it replaces") {
  Story story = handed_off();
  const bool was_replaced_before = GENERATE(true, false);
  const auto replace = [&](double at) { story.replaced(at, 1, 7); };
  if (was_replaced_before) replace(9.9);  // while the fault was being noted
  story.fault(10, "link_silent", 3, Event::fault, 1);
  if (!was_replaced_before) replace(11);
  story.fault(12, "link_silent", 3, Event::healed, 1);
  for (const int process : {1, 7}) {
    CHECK_FALSE(story.tell().is_quiet({11 * second, 12 * second}, process));
    CHECK(story.tell().is_quiet({17 * second, 18 * second}, process));
  }
  CHECK(story.tell().is_quiet({11 * second, 12 * second}, 2));
  CHECK(story.tell().quiet_time() == std::chrono::microseconds{4'500'000});  // to 10 s, and from 16 s
}

TEST_CASE("a fault ends when a truce begins, and none begins in it") {
  using namespace std::chrono_literals;
  constexpr Truces truces{.period = 40s, .length = 11s};
  for (const auto start : {0s, 40s, 400s}) {
    CHECK(truces.shorten(5s, start) == 5s);
    CHECK(truces.shorten(5s, start + 26s) == 3s);
    CHECK(truces.shorten(5s, start + 29s) == 0s);
    CHECK(truces.left(start + 28'999ms) == 0s);
    CHECK(truces.left(start + 29s) == 11s);
    CHECK(truces.left(start + 39'999ms) == 1ms);
  }
}

TEST_CASE("a node's maker is the attempt that was granted it, or one that waited when it was made") {
  Story story;
  story.create(10, one, a).create(11, one, b);
  const auto makers = [&](std::int64_t token) {
    std::vector<std::int64_t> numbers;
    const Evidence& evidence = story.tell();
    for (const Attempt* each : evidence.makers_of(*evidence.history.find(token))) numbers.push_back(each->operation);
    return numbers;
  };
  CHECK(makers(10).empty());
  story.refused(9.5, 12, 1, 5, "mutex").refused(10.5, 12, 1, 6, "nested").refused(9, 9.7, 1, 7, "mutex");
  story.refused(9, 12, 2, 8, "mutex").refused(9, 12, 1, 9, "mutex", "/locks/mutex1");
  CHECK(makers(10) == std::vector<std::int64_t>{5});
  CHECK(makers(11) == std::vector<std::int64_t>{5, 6});
  story.user(9.8, Event::invoked, 1, 11).user(11.5, Event::granted, 1, 11);
  CHECK(makers(11) == std::vector<std::int64_t>{11});
  CHECK(makers(10) == std::vector<std::int64_t>{5, 11});
}

TEST_CASE("a transaction that only an ended leader has is no history, one that a server missed is") {
  const auto log = [](std::initializer_list<std::int64_t> zxids) {
    std::vector<ServerTransaction> all;
    for (const std::int64_t zxid : zxids) all.push_back({.zxid = zxid});
    return all;
  };
  constexpr std::int64_t next = std::int64_t{2} << 32;
  const auto merged = merge_committed({log({1, 2, 3, 4, 5}), log({1, 2, 3, next, next + 1}), log({1, next, next + 1})});
  std::vector<std::int64_t> zxids;
  for (const ServerTransaction& each : merged) zxids.push_back(each.zxid);
  CHECK(zxids == std::vector<std::int64_t>{1, 2, 3, next, next + 1});
  CHECK(merge_committed({log({1, 2})}).size() == 2);
}

TEST_CASE("the register refuses a token that is older than one before it, but readers may come in any order") {
  TokenRegister tokens;
  CHECK(tokens.accept(10, Share::alone));
  CHECK(tokens.accept(12, Share::with_readers));
  CHECK(tokens.accept(11, Share::with_readers));
  CHECK_FALSE(tokens.accept(11, Share::alone));
  CHECK(tokens.accept(13, Share::alone));
  CHECK_FALSE(tokens.accept(12, Share::with_readers));
  CHECK(tokens.accept(1, Share::permit));
}

TEST_CASE("a record is read as it was written, and half a line is no record") {
  const Record record{.at = 1,
                      .event = Event::turned_away,
                      .process = 2,
                      .operation = 3,
                      .lock = "/l",
                      .token = 4,
                      .session = 5,
                      .number = -6,
                      .limit = 7,
                      .reason = "why"};
  CHECK(parse_line(to_line(record)) == record);
  CHECK(parse_line(to_line(Record{})) == Record{});
  CHECK(parse_line(to_line(Record{.event = Event::added})) == Record{.event = Event::added});
  CHECK_FALSE(parse_line("17 granted 1 2"));
}
