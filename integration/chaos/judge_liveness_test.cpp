// I6 and I7 on histories made by hand, in which they hold or are violated.
#include "judge_story.hpp"
#include "support/catch.hpp"

using namespace zklock;
using namespace zklock::chaos;

TEST_CASE("I6: a handoff that takes too long, a process that does not end, an acquire beyond its limit") {
  Story story = handed_off();
  SECTION("a handoff") { story.evidence.users[5].at = 16 * second; }
  SECTION("a process") { story.user(21, Event::invoked, 3, 0); }
  SECTION("an acquire") { story.evidence.users[0].limit = 50; }
  CHECK(check_liveness(story.tell()).size() == 1);
}

TEST_CASE("I6: a handoff may take longer during a fault, and a process's own pause is not a violation") {
  Story story = handed_off();
  story.evidence.users[5].at = 16 * second;
  SECTION("a fault") { story.fault(12, "link_cut", 0); }
  SECTION("a pause") { story.fault(13.1, "client_paused", 2).fault(15.9, "client_paused", 2, Event::healed); }
  CHECK(check_liveness(story.tell()).empty());
}

TEST_CASE("I6: an acquire of several locks as one has to wait for the last of them") {
  Story story = handed_off();
  std::vector<Record>& users = story.evidence.users;
  users[5].at = 16 * second + second / 2;
  story.create(16, two, b, "mutex1").user(16.5, Event::granted, 2, 16);
  CHECK(check_liveness(story.tell()).size() == 1);
  users.back().operation = users[5].operation;
  CHECK(check_liveness(story.tell()).empty());
}

TEST_CASE("I7: no outcome, two outcomes, or an event after the end") {
  Story story = handed_off();
  SECTION("none") { story.user(16, Event::invoked, 1, 50); }
  SECTION("two") {
    story.evidence.users.insert(story.evidence.users.begin() + 2,
                                Record{.event = Event::refused, .process = 1, .operation = 10});
  }
  SECTION("an event after the end") { story.user(16, Event::granted, 1, 10); }
  CHECK(check_outcomes(story.tell()).size() == 1);
}

namespace {

/// A waiter is first in the wait queue from 13 s on, until it gives up.
Story passed_over(double until, const std::string& kind = "mutex") {
  Story story;
  story.create(10, one, a).create(12, two, b).remove(13, one, a);
  story.remove(static_cast<std::int64_t>(until) + 1, two, b);
  return story.refused(11.9, until, 2, 50, kind);
}

}  // namespace

TEST_CASE("I6: a waiter that is first in the wait queue for a second is not refused") {
  CHECK(find_passed_over(passed_over(13.8).tell()).empty());
  CHECK(find_passed_over(passed_over(14.2).tell()).size() == 1);
  CHECK(check_liveness(passed_over(14.2).user(20, Event::drained, 2, 0).tell()).size() == 1);
  SECTION("but may have it, of several locks") { CHECK(find_passed_over(passed_over(18, "several").tell()).empty()); }
  SECTION("unless it was killed") {
    CHECK(find_passed_over(passed_over(18).fault(13.5, "client_killed", 2).tell()).empty());
  }
}

TEST_CASE("I6: a killed process is excused from then on, not for the time before") {
  const double killed = GENERATE(13.9, 14.5, 9'000.0);
  Story story = passed_over(18).fault(killed, "client_killed", 2, Event::fault, 3);
  CHECK(find_passed_over(story.tell()).size() == (killed < 14 ? 0 : 1));
}

TEST_CASE("I6: a process that was stopped makes no other process late") {
  Story story = passed_over(18);  // first for five seconds
  story.fault(13.5, "client_paused", 1, Event::fault, 1).fault(16.5, "client_paused", 1, Event::healed, 1);
  SECTION("by the time that it overslept meanwhile") {
    CHECK(find_passed_over(story.late(16.5, 1, 3'000).tell()).size() == 1);
    CHECK(story.tell().lateness({13 * second, 18 * second}).count() == 0);
  }
  SECTION("except by the time that it overslept besides") {
    CHECK(story.late(16.5, 1, 3'600).tell().lateness({13 * second, 18 * second}).count() == 600'000);
    CHECK(find_passed_over(story.late(17, 2, 3'000).tell()).empty());
  }
  SECTION("nor does it make an acquire with a limit late") {
    story = handed_off();
    story.evidence.users[0].limit = 50;
    story.fault(7, "client_paused", 2, Event::fault, 2).fault(11, "client_paused", 2, Event::healed, 2);
    CHECK(check_liveness(story.late(11, 2, 3'000).tell()).size() == 1);
  }
}

TEST_CASE("I6: during a fault a waiter may be refused although it is first, but not for long") {
  const auto troubled = [](double until, int process) {
    return passed_over(until).fault(13.5, "link_silent", 1, Event::fault, process);
  };
  CHECK(find_passed_over(troubled(27, 0).tell()).empty());
  CHECK(find_passed_over(troubled(29, 0).tell()).size() == 1);
  CHECK(find_passed_over(troubled(27, 2).tell()).empty());
  CHECK(find_passed_over(troubled(27, 1).tell()).size() == 1);  // with another process
}

TEST_CASE("I6: an attempt that is never granted, and never refused") {
  Story story = passed_over(30);
  story.transactions.pop_back();
  story.evidence.users.pop_back();
  CHECK(find_passed_over(story.user(20, Event::invoked, 1, 70).tell()).size() == 1);
}

TEST_CASE("I6: the first waiter for permits makes no nodes for them") {
  const std::string id = "_c_00000000-0000-0000-0000-00000000000";
  const std::string wants = id + "a-lock-0000000000";
  const std::string has = id + "b-lease-0000000000";
  Story story;
  story.create(10, one, wants, "permits0/locks").refused(9.9, 15, 1, 50, "permits", "/locks/permits0");
  SECTION("none") { CHECK(find_passed_over(story.remove(15, one, wants, "permits0/locks").tell()).size() == 1); }
  SECTION("at once, but no permit is free") {
    const std::string other = id + "c-lease-000000000";
    for (const int i : {1, 2, 3}) story.create(i + 3, two, other + std::to_string(i), "permits0/leases");
    story.create(11, one, has, "permits0/leases").remove(15, one, has, "permits0/leases");
    CHECK(find_passed_over(story.remove(16, one, wants, "permits0/locks").tell()).empty());
  }
}

TEST_CASE("I6: a client for which permits are free is not refused") {
  const std::string id = "_c_00000000-0000-0000-0000-00000000000";
  const int others = GENERATE(1, 2);
  Story story;
  const auto lease = [&](int number) {
    return id + std::to_string(number) + "-lease-000000000" + std::to_string(number);
  };
  for (int i = 0; i < others; ++i) story.create(5 + i, two, lease(i), "permits0/leases");
  story.create(10, one, lease(8), "permits0/leases").create(11, one, lease(9), "permits0/leases");
  story.remove(15, one, lease(8), "permits0/leases").remove(16, one, lease(9), "permits0/leases");
  story.refused(9.9, 14.9, 1, 50, "permits", "/locks/permits0");
  CHECK(find_passed_over(story.tell()).size() == (others == 1 ? 2 : 0));  // of three permits; it wants two
}

namespace {

/// Acquires of a kind that are granted, or refused. They are of process 1, whose operations begin at that number.
void ask(Story& story, const std::string& kind, int times, bool granted, std::int64_t limit, int first) {
  for (int i = first; i < first + times; ++i) {
    story.refused(i, i + 0.5, 1, i, kind, "/locks/mutex0", limit);
    if (granted) story.user(i + 0.4, Event::granted, 1, i);
  }
}

}  // namespace

TEST_CASE("I6: of each kind a share of the acquires with a limit is granted") {
  Story story;
  ask(story, "read", 300, true, -1, 1'000);  // they show nothing: an acquire without a limit is granted in the end
  ask(story, "read", 200, false, 200, 2'000);
  CHECK(find_starved(story.tell()).size() == 1);
  ask(story, "read", 30, true, 200, 3'000);
  CHECK(find_starved(story.tell()).empty());
  const Tally read = tally_by_kind(story.tell()).at("read");
  CHECK(read.asked == 530);
  CHECK(read.granted == 330);
  CHECK(read.asked_with_limit == 230);
  CHECK(read.granted_with_limit == 30);
}

TEST_CASE("I6: no kind is granted far less often than the others") {
  Story story;
  ask(story, "read", 500, true, -1, 1'000);
  ask(story, "mutex", 500, true, -1, 2'000);
  const int times = GENERATE(30, 100);
  ask(story, "write", times, true, -1, 3'000);
  CHECK(find_starved(story.tell()).size() == (times == 30 ? 1 : 0));
}

TEST_CASE("I6: a short run is no measure of shares") {
  Story story;
  ask(story, "read", 150, false, 200, 1'000);
  ask(story, "mutex", 300, true, -1, 2'000);
  CHECK(find_starved(story.tell()).empty());
}

TEST_CASE("I7: a killed process leaves only those operations unfinished that might still have ended") {
  Story story = handed_off();
  const double killed = GENERATE(20.0, 40.0, 9'000.0);
  SECTION("with a limit") {
    story.user(16, Event::invoked, 1, 50);
    story.evidence.users.back().limit = 1'000;
    story.fault(killed, "client_killed", 1);
    CHECK(check_outcomes(story.tell()).size() == (killed < 30 ? 0 : 1));
  }
  SECTION("without one") {
    story.user(16, Event::invoked, 1, 50).fault(killed, "client_killed", 1);
    CHECK(check_outcomes(story.tell()).empty());  // other clients may have blocked it
  }
  SECTION("granted, and not released") {
    story.user(16, Event::invoked, 1, 50).user(17, Event::granted, 1, 50).fault(killed, "client_killed", 1);
    CHECK(check_outcomes(story.tell()).size() == (killed < 50 ? 0 : 1));
  }
}
