// I1, I2, I3 and I5 on histories made by hand, in which they hold or are violated.
#include "judge_story.hpp"
#include "register.hpp"
#include "support/catch.hpp"

using namespace zklock;
using namespace zklock::chaos;

TEST_CASE("I1: a token without a node, a token of two holders, or a token older than an earlier one") {
  Story story = handed_off();
  REQUIRE(check_fenced_exclusion(story.tell()).empty());
  SECTION("no node") { story.user(16, Event::granted, 1, 77); }
  SECTION("two holders") {
    story.evidence.users.push_back(story.evidence.users[1]);
    story.evidence.users.back().process = 2;
  }
  SECTION("let in too late") { story.visit(16, Event::entered, 1, 10); }
  SECTION("turned away though its lock was not taken away") { story.visit(16, Event::turned_away, 1, 10); }
  CHECK(check_fenced_exclusion(story.tell()).size() == 1);
}

TEST_CASE("I1: a holder whose session has ended may be turned away") {
  Story story = taken_away();
  story.visit(14, Event::turned_away, 1, 10);
  CHECK(check_fenced_exclusion(story.tell()).empty());
}

TEST_CASE("I2: two users are inside at once") {
  SECTION("without any excuse") {
    Story story = handed_off();
    story.evidence.visits[1].at = 14 * second;
    std::swap(story.evidence.visits[1], story.evidence.visits[2]);
    CHECK(check_overlaps(story.tell()).size() == 1);
  }
  SECTION("when a session has ended and no user was told") { CHECK(check_overlaps(taken_away().tell()).size() == 1); }
  SECTION("when a session has ended and its user was told") {
    Story story = taken_away();
    CHECK(check_overlaps(story.user(13, Event::lost, 1, 10).tell()).empty());
  }
  SECTION("when a session has ended while its user was stopped") {
    Story story = taken_away();
    story.fault(11, "client_paused_beyond_timeout", 1).fault(15, "client_paused_beyond_timeout", 1, Event::healed);
    CHECK(check_overlaps(story.visit(15.2, Event::left, 1, 10).tell()).empty());
  }
  SECTION("when a session has ended while its user was stopped and the user then stays") {
    Story story = taken_away();
    story.fault(11, "client_paused_beyond_timeout", 1).fault(15, "client_paused_beyond_timeout", 1, Event::healed);
    CHECK(check_overlaps(story.visit(16, Event::left, 1, 10).tell()).size() == 1);
  }
}

TEST_CASE("I3: a lock is held by a contender that is not first in the wait queue") {
  Story story;
  story.create(10, one, a).create(11, two, b);
  SECTION("by a mark") { story.mark(12, two, b); }
  SECTION("by a grant without one") { story.user(11.5, Event::granted, 2, 11).remove(13, two, b); }
  CHECK(check_grants(story.tell()).size() == 1);
}

TEST_CASE("I3: a waiter whose node an operator deletes may hear of a grant first") {
  Story story;
  story.create(10, one, a).create(11, two, b).remove(12, theirs, b).remove(13, one, a);
  story.user(13.1, Event::granted, 2, 11).user(13.2, Event::lost, 2, 11);
  CHECK(check_grants(story.tell()).empty());
}

TEST_CASE("I3: a first node stays first beside the reader of a writer whose node an operator has deleted") {
  const std::string id = "_c_00000000-0000-0000-0000-00000000000";
  const std::string writer = id + "a-__WRIT__0000000000";
  const std::string next = id + "b-__WRIT__0000000001";
  Story story;
  story.create(10, one, writer, "rw0").create(11, two, next, "rw0");
  SECTION("deleted before") {
    story.remove(12, theirs, writer, "rw0")
        .create(13, one, id + "c-__READ__0000000000", "rw0")
        .mark(14, two, next, "rw0");
    CHECK(check_grants(story.tell()).empty());
  }
  SECTION("deleted before, with a reader between the writers") {
    const std::string reader = id + "d-__READ__0000000002";
    const std::string last = id + "e-__WRIT__0000000003";
    story.remove(12, theirs, next, "rw0").create(13, theirs, reader, "rw0").create(14, two, last, "rw0");
    story.remove(15, theirs, writer, "rw0").create(16, one, id + "c-__READ__0000000000", "rw0");
    story.remove(17, theirs, reader, "rw0").mark(18, two, last, "rw0");
    CHECK(check_grants(story.tell()).empty());
  }
  SECTION("deleted afterwards") {
    story.create(12, one, id + "c-__READ__0000000000", "rw0")
        .remove(13, theirs, writer, "rw0")
        .mark(14, two, next, "rw0");
    CHECK(check_grants(story.tell()).size() == 1);
  }
}

TEST_CASE("I3: a released local waiter blocks no other, and a fourth permit of three is one too many") {
  Story story;
  SECTION("local waiters") {
    story.create(10, one, a).create(11, one, b).mark(12, one, b);
    story.user(10.1, Event::granted, 1, 10).user(10.2, Event::releasing, 1, 10);
    story.user(10.2, Event::released, 1, 10, "dropped").user(11.1, Event::granted, 1, 11);
    CHECK(check_grants(story.tell()).empty());
  }
  SECTION("permits") {
    for (int i = 0; i < 4; ++i) {
      CHECK(check_grants(story.tell()).empty());
      const std::string name =
          "_c_00000000-0000-0000-0000-00000000000" + std::to_string(i) + "-lease-000000000" + std::to_string(i);
      story.create(10 + i, one, name, "permits0/leases").mark(20 + i, one, name, "permits0/leases");
    }
    CHECK(check_grants(story.tell()).size() == 1);
  }
}

TEST_CASE("I5: a contender overtakes another one in the wait queue") {
  Story story;
  story.create(10, one, a).create(11, two, b).mark(12, two, b).mark(13, one, a);
  CHECK(check_order(story.tell()).size() == 1);
  CHECK(check_order(handed_off().tell()).empty());
}

TEST_CASE("I2: two users are inside while both nodes exist, whatever happens to one of them later") {
  Story story;
  story.create(10, one, a).create(12, two, b).mark(13, two, b);
  story.user(10.1, Event::granted, 1, 10).user(12.5, Event::granted, 2, 12);
  story.visit(10.2, Event::entered, 1, 10).visit(12.6, Event::entered, 2, 12);
  SECTION("its session ends, and its user is told") { story.close(14, one).user(14.1, Event::lost, 1, 10); }
  SECTION("an operator deletes it") { story.remove(14, theirs, a).user(14.1, Event::lost, 1, 10); }
  CHECK(check_overlaps(story.tell()).size() == 1);
}

TEST_CASE("I2: an operator has deleted the node of a user who is inside") {
  Story story;
  story.create(10, one, a).create(11, two, b).remove(12, theirs, a).mark(13, two, b);
  story.visit(10.2, Event::entered, 1, 10).visit(12.6, Event::entered, 2, 11);
  CHECK(check_overlaps(story.tell()).empty());
}

TEST_CASE("I2: each user too many inside a semaphore needs an excuse of its own") {
  Story story;
  const auto enter = [&](int number) {
    const std::string name =
        "_c_00000000-0000-0000-0000-00000000000" + std::to_string(number) + "-lease-000000000" + std::to_string(number);
    story.create(10 + number, 100 + number, name, "permits0/leases");
    story.visit(10.5 + number, Event::entered, 1, 10 + number);
    story.evidence.visits.back().lock = "/locks/permits0";
    story.evidence.visits.back().number = static_cast<int>(Share::permit);
  };
  for (const int number : {0, 1, 2}) enter(number);
  CHECK(check_overlaps(story.tell()).empty());
  story.remove(12, theirs, "_c_00000000-0000-0000-0000-000000000000-lease-0000000000", "permits0/leases");
  enter(3);  // one node is gone, and its user has not been told
  CHECK(check_overlaps(story.tell()).empty());
  enter(4);
  CHECK(check_overlaps(story.tell()).size() == 1);
}

TEST_CASE("I3: a local waiter blocks the next one until it begins to release the lock") {
  Story story;
  story.create(10, one, a).create(11, one, b).mark(12, one, b);
  story.user(10.1, Event::granted, 1, 10).user(11.5, Event::granted, 1, 11);
  SECTION("before the grant") { story.user(11.4, Event::releasing, 1, 10); }
  SECTION("after the grant") { story.user(11.6, Event::releasing, 1, 10); }
  SECTION("never") {}
  const bool is_early =
      story.evidence.users.back().event != Event::releasing || story.evidence.users.back().at > 11'500'000;
  CHECK(check_grants(story.tell()).size() == (is_early ? 1 : 0));
}

TEST_CASE("I3: a local waiter that was never granted blocks the next one until its attempt ends") {
  Story story;
  story.create(10, one, a).create(11, one, b).mark(12, one, b);
  const double end = GENERATE(11.6, 12.5);
  story.refused(9.9, end, 1, 50, "mutex").user(10.8, Event::invoked, 1, 11).user(11.5, Event::granted, 1, 11);
  CHECK(check_grants(story.tell()).size() == (end > 12 ? 1 : 0));
}

TEST_CASE("I3: a lock is granted when its node is first, and not before") {
  Story story;
  story.create(10, one, a).create(11, two, b).remove(15, one, a).mark(16, two, b);
  story.user(10.1, Event::granted, 1, 10);
  const double granted = GENERATE(13.0, 15.1);
  story.user(granted, Event::granted, 2, 11);
  SECTION("") {}
  SECTION("whatever an operator does to it later") { story.remove(60, theirs, b); }
  CHECK(check_grants(story.tell()).size() == (granted < 15 ? 1 : 0));
}

TEST_CASE("I3: a local waiter may have the lock as soon as the one ahead begins to release it") {
  Story story;
  story.create(10, one, a).create(11, one, b).remove(14, one, a).mark(15, one, b);
  story.user(10.1, Event::granted, 1, 10).user(12, Event::granted, 1, 11);
  const double releasing = GENERATE(11.9, 12.1);
  story.user(releasing, Event::releasing, 1, 10);
  CHECK(check_grants(story.tell()).size() == (releasing < 12 ? 0 : 1));
}

TEST_CASE("I3: a process that is killed later has not let its local waiters go ahead") {
  Story story;
  story.create(10, one, a).create(11, one, b).mark(12, one, b);
  story.refused(9.9, 9'100, 1, 50, "mutex").user(10.8, Event::invoked, 1, 11).user(11.5, Event::granted, 1, 11);
  const double killed = GENERATE(11.6, 9'000.0);
  story.fault(killed, "client_killed", 1);
  CHECK(check_grants(story.tell()).size() == (killed > 12 ? 1 : 0));
}

TEST_CASE("I3: a local waiter that has given up may be stopped before it says so") {
  Story story;
  story.create(10, one, a).create(11, one, b).mark(12, one, b);
  story.refused(9.9, 20.2, 1, 50, "mutex").user(10.8, Event::invoked, 1, 11).user(11.5, Event::granted, 1, 11);
  CHECK(check_grants(story.tell()).size() == 1);
  story.fault(11.6, "client_paused", 1, Event::fault, 1).fault(20, "client_paused", 1, Event::healed, 1);
  CHECK(check_grants(story.tell()).empty());
}

TEST_CASE("I3: the reader of a writer whose node an operator has deleted does not overtake the first node") {
  const std::string id = "_c_00000000-0000-0000-0000-00000000000";
  Story story;
  story.create(10, one, id + "a-__WRIT__0000000000", "rw0").create(11, two, id + "b-__WRIT__0000000001", "rw0");
  story.remove(12, theirs, id + "a-__WRIT__0000000000", "rw0").create(13, one, id + "c-__READ__0000000000", "rw0");
  story.user(14, Event::granted, 2, 11);
  CHECK(check_grants(story.tell()).empty());
}
