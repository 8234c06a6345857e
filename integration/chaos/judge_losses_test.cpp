// I4 and I16 on histories made by hand, in which they hold or are violated.
#include "judge_story.hpp"
#include "support/catch.hpp"

using namespace zklock;
using namespace zklock::chaos;

TEST_CASE("I4: a loss that is not reported, is reported too late, or is denied") {
  SECTION("never") { CHECK(check_losses(taken_away().tell()).size() == 1); }
  SECTION("in time") { CHECK(check_losses(taken_away().user(13.2, Event::lost, 1, 10).tell()).empty()); }
  SECTION("too late") { CHECK(check_losses(taken_away().user(14, Event::lost, 1, 10).tell()).size() == 1); }
  SECTION("late, after a pause") {
    Story story = taken_away();
    story.fault(11, "client_paused_beyond_timeout", 1).fault(14, "client_paused_beyond_timeout", 1, Event::healed);
    CHECK(check_losses(story.user(14.2, Event::lost, 1, 10).tell()).empty());
  }
  SECTION("at the end of a long pause") {
    Story story = taken_away();
    story.fault(12.5, "client_paused_beyond_timeout", 1).fault(22.5, "client_paused_beyond_timeout", 1, Event::healed);
    CHECK(check_losses(story.user(22.8, Event::lost, 1, 10).tell()).empty());
  }
  SECTION("killed before") { CHECK(check_losses(taken_away().fault(13, "client_killed", 1).tell()).empty()); }
  SECTION("while it is being released") {
    const auto told_late = [](double releasing_at, double told_at) {
      Story story = taken_away();
      story.user(releasing_at, Event::releasing, 1, 10).user(told_at, Event::released, 1, 10, "lost");
      return check_losses(story.tell()).size();
    };
    CHECK(told_late(12.9, 14.5) == 0);
    CHECK(told_late(12.9, 20) == 1);
    CHECK(told_late(13.1, 14.5) == 1);
  }
  SECTION("released all the same") {
    Story story = taken_away();
    story.user(13.1, Event::lost, 1, 10).user(13.5, Event::released, 1, 10, "ok");
    CHECK(check_losses(story.tell()).size() == 1);
  }
}

TEST_CASE("I4: a node that an operator deletes while its owner releases it") {
  Story story;
  story.create(10, one, a).remove(13, two, a);
  story.user(10.1, Event::granted, 1, 10).user(13.5, Event::released, 1, 10, "ok");
  story.visit(11, Event::entered, 1, 10).visit(13.1, Event::left, 1, 10);
  story.measure("connections", 3, 12).measure("connections", 4, 13);
  SECTION("and the link is lost") { CHECK(check_losses(story.measure("connections", 5, 14).tell()).empty()); }
  SECTION("and the link holds") { CHECK(check_losses(story.measure("connections", 4, 14).tell()).size() == 1); }
}

TEST_CASE("I16: a lease that trusts itself for longer than its session lives") {
  Story story = taken_away();
  const auto trusts = [&](double until) {
    story.user(11, Event::trusts, 1, 10);
    story.evidence.users.back().number = static_cast<std::int64_t>(until * second);
  };
  trusts(12.9);
  CHECK(check_trust(story.tell()).empty());
  CHECK(least_margin(story.tell()) == 100);
  trusts(13.1);
  CHECK(check_trust(story.tell()).size() == 1);
  CHECK(shown_at(story.tell(), check_trust(story.tell()).front()) == 13'100'000);
  SECTION("by the session's own word") {
    story.user(11, Event::trusts, 1, 0);
    story.evidence.users.back().session = one;
    story.evidence.users.back().number = 14 * second;
    CHECK(least_margin(story.tell()) == -1'000);
    story.fault(12.9, "session_ended", one);
  }
  SECTION("which was ended from outside") { story.fault(12.9, "session_ended", one); }
  SECTION("which its client has closed") { story.transactions[3].request = 17; }
  CHECK(check_trust(story.tell()).empty());
}
