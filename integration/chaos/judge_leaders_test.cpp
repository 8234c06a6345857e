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
  story.user(9.5, Event::invoked, 1, 10, "lead").user(10.1, Event::granted, 1, 10);
  story.user(12.9, Event::releasing, 1, 10).user(13.1, Event::released, 1, 10, "dropped");
  story.says(4, {.event = Event::follows, .lock = election});
  for (const auto& [at, token] : std::map<double, std::int64_t>{{4.1, 0}, {10.1, 10}, {13.1, 12}, {15.1, 0}})
    story.says(at, {.event = Event::shows, .lock = election, .token = token});
  story.says(19, {.event = Event::unfollows, .lock = election});
  story.user(21, Event::drained, 1, 0);
  return story;
}

/// The user of the first candidate's leadership gives it up two seconds later.
void give_up_later(FollowStory& story) {
  for (Record& each : story.evidence.users)
    if (each.token == 10 && (each.event == Event::releasing || each.event == Event::released)) each.at += 2 * second;
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
  SECTION("an older one") { story.says(14, {.event = Event::shows, .lock = election, .token = 10}); }
  CHECK(count(story) == 1);
}

TEST_CASE("I21: a leader between two others may be left out") {
  FollowStory story = one_leads_after_the_other();
  story.unsay(Event::shows, election, 13).says(13.6, {.event = Event::shows, .lock = election});
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
  if (GENERATE(true, false)) {
    story.fault(3, "link_silent", 3, Event::fault, 1);
    CHECK(count(story) == 0);
  } else {
    story.tell().outages = {{3 * second, 18 * second}};
    CHECK(check_leaders(story.evidence).empty());
  }
}

TEST_CASE("I21: no session deletes a node before its holder has given it up") {
  FollowStory story = one_leads_after_the_other();
  give_up_later(story);
  CHECK(count(story) == 1);
  SECTION("it had lost its link") { story.fault(10.5, "link_silent", 1, Event::fault, 1); }
  SECTION("something was wrong with the servers") { story.fault(10, "leader_killed", 1); }
  CHECK(count(story) == 0);
}

namespace {

/// A candidate that stands for ever loses its leadership by its time, gives its node up, and stands again; the other
/// one leads while the first one's user is still inside.
FollowStory gives_up(const std::string& kind) {
  FollowStory story{"latch0"};
  story.create(10, one, first).create(11, two, second_one).remove(13, one, first).remove(17, two, second_one);
  story.user(9.5, Event::invoked, 1, 10, kind).user(10.1, Event::granted, 1, 10).user(10.2, Event::listens, 1, 10);
  story.user(14, Event::releasing, 1, 10).user(14.1, Event::released, 1, 10, "dropped");
  story.user(10.5, Event::invoked, 2, 11, kind).user(13.1, Event::granted, 2, 11);
  story.user(16.9, Event::releasing, 2, 11).user(17.1, Event::released, 2, 11, "dropped");
  story.visit(10.2, Event::entered, 1, 10).visit(13.2, Event::entered, 2, 11);
  story.visit(13.3, Event::left, 1, 10).visit(16.8, Event::left, 2, 11);
  story.fault(12, "link_silent", 1, Event::fault, 1);
  return story;
}

}  // namespace

TEST_CASE("I1, I2 and I4: a candidate that stands for ever may give up what it has lost, and tells its user") {
  FollowStory story = gives_up("stand");
  story.user(12.9, Event::lost, 1, 10);
  CHECK(check_overlaps(story.tell()).empty());
  CHECK(check_losses(story.tell()).empty());
  CHECK(check_leaders(story.tell()).empty());
  SECTION("a user that trusts itself for longer") {
    story.evidence.users.push_back({.at = 12'500'000,
                                    .event = Event::trusts,
                                    .process = 1,
                                    .operation = 10,
                                    .lock = election,
                                    .token = 10,
                                    .number = 13'500'000});
    CHECK(check_leaders(story.tell()).size() == 1);
  }
  SECTION("a user that comes in late is turned away") {
    story.visit(14.5, Event::turned_away, 1, 10);
    CHECK(check_fenced_exclusion(story.tell()).empty());
  }
}

TEST_CASE("I2 and I4: a candidate's user is told, and no other holder gives up what it has lost") {
  const bool stands = GENERATE(true, false);
  FollowStory story = gives_up(stands ? "stand" : "lead");
  if (!stands) story.user(12.9, Event::lost, 1, 10);
  story.visit(15, Event::left, 1, 10);
  std::erase_if(story.evidence.visits, [](const Record& each) { return each.at == 13'300'000; });
  give_up_later(story);
  CHECK(check_overlaps(story.tell()).size() == 1);
  CHECK(check_losses(story.tell()).size() == (stands ? 1 : 0));
}
