// I21 on histories made by hand, in which it holds or is violated.
#include "follow_story.hpp"
#include "support/catch.hpp"

using namespace zklock;
using namespace zklock::chaos;

namespace {

constexpr const char* election = "/locks/latch0";
constexpr const char* first = "_c_00000000-0000-0000-0000-00000000000a-latch-0000000000";
constexpr const char* second_one = "_c_00000000-0000-0000-0000-00000000000b-latch-0000000001";

/// One candidate leads, and then the other one; a third process shows it.
FollowStory one_leads_after_the_other() {
  FollowStory story{"latch0"};
  story.create(10, one, first).create(12, two, second_one).remove(13, one, first).remove(15, two, second_one);
  story.user(9.5, Event::invoked, 1, 10, "stand").user(10.1, Event::granted, 1, 10);
  story.user(12.9, Event::releasing, 1, 10).user(13.1, Event::released, 1, 10, "dropped");
  story.says(4, {.event = Event::follows, .lock = election});
  for (const auto& [at, token] : std::map<double, std::int64_t>{{4.1, 0}, {10.1, 10}, {13.1, 12}, {15.1, 0}})
    story.says(at, {.event = Event::shows, .lock = election, .token = token});
  story.says(19, {.event = Event::unfollows, .lock = election});
  story.user(21, Event::drained, 1, 0);
  return story;
}

std::size_t count(FollowStory& story) { return check_leaders(story.tell()).size(); }

}  // namespace

TEST_CASE("I21: leaders are shown as they were, in their order") {
  FollowStory story = one_leads_after_the_other();
  CHECK(count(story) == 0);
  SECTION("one that never was") { story.says(14, {.event = Event::shows, .lock = election, .token = 11}); }
  SECTION("one that waits") { story.says(12.5, {.event = Event::shows, .lock = election, .token = 12}); }
  SECTION("one that is gone, though it was shown before") {
    story.says(15.5, {.event = Event::shows, .lock = election, .token = 12});
  }
  SECTION("none, though there is one") { story.says(11, {.event = Event::shows, .lock = election}); }
  CHECK(count(story) == 1);
}

TEST_CASE("I21: no older leader is shown") {
  FollowStory story = one_leads_after_the_other();
  story.says(14, {.event = Event::shows, .lock = election, .token = 10});
  CHECK(count(story) == 2);  // it is over, too
}

TEST_CASE("I21: a leader between two others may be left out") {
  FollowStory story = one_leads_after_the_other();
  story.unsay(Event::shows, election, 13).says(15.1, {.event = Event::shows, .lock = election});
  story.transactions.back().at = 13 * second + second / 2;  // it led for half a second
  CHECK(count(story) == 0);
}

TEST_CASE("I21: a leader is shown in time") {
  FollowStory story = one_leads_after_the_other();
  SECTION("another one") {
    story.unsay(Event::shows, election, 13).says(15, {.event = Event::shows, .lock = election});
  }
  SECTION("the beginning") { story.unsay(Event::shows, election, 0); }
  CHECK(count(story) == 1);
  story.fault(3, "link_silent", 3, Event::fault, 1);
  CHECK(count(story) == 0);
}

TEST_CASE("I21: no session deletes a node before its holder has given it up") {
  FollowStory story = one_leads_after_the_other();
  story.transactions[3].at = 11 * second;  // where the other one does not follow yet
  story.unsay(Event::shows, election, 13);
  story.says(11.1, {.event = Event::shows, .lock = election})
      .says(12.1, {.event = Event::shows, .lock = election, .token = 12});
  story.says(15.1, {.event = Event::shows, .lock = election});
  CHECK(count(story) == 1);
  SECTION("it had lost its link") { story.fault(10.5, "link_silent", 1, Event::fault, 1); }
  SECTION("something was wrong with the servers") { story.fault(10, "leader_killed", 1); }
  CHECK(count(story) == 0);
}

TEST_CASE("I2: a candidate that stands again has lost what it gives up") {
  FollowStory story = one_leads_after_the_other();
  story.transactions[3].at = 12 * second + second / 2;
  story.tell();
  const Node& given_up = *story.evidence.history.find(10);
  CHECK(story.evidence.is_given_up(given_up));
  CHECK_FALSE(story.evidence.is_given_up(*story.evidence.history.find(12)));
}
