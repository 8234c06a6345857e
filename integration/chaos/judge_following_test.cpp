// I19 on histories made by hand, in which it holds or is violated.
#include "follow_story.hpp"
#include "support/catch.hpp"

using namespace zklock;
using namespace zklock::chaos;

namespace {

/// A process follows the tree, of which one node changes, goes and comes again.
FollowStory follows_a_tree() {
  FollowStory story;
  story.make(2, theirs, "/tree").make(3, theirs, "/tree/0").set(12, theirs, "/tree/0", "x");
  story.drop(14, theirs, "/tree/0").make(16, theirs, "/tree/0");
  story.says(4, {.event = Event::follows, .lock = "/tree"});
  story.told(4.1, "/tree", "created", 2).told(4.1, "/tree/0", "created", 3);
  story.told(4.2, "/tree", "initialized").told(4.2, "/tree", "live");
  story.told(12.1, "/tree/0", "changed", 12).told(14.1, "/tree/0", "deleted", 12).told(16.1, "/tree/0", "created", 16);
  story.says(19, {.event = Event::looks, .lock = "/tree"});
  story.says(19.1, {.event = Event::holds, .lock = "/tree", .token = 2});
  story.says(19.1, {.event = Event::holds, .lock = "/tree/0", .token = 16});
  story.says(19.2, {.event = Event::held, .lock = "/tree", .reason = "ok"});
  story.says(19.5, {.event = Event::unfollows, .lock = "/tree"});
  story.user(21, Event::drained, 1, 0);
  return story;
}

std::size_t count(FollowStory& story) { return check_following(story.tell()).size(); }

}  // namespace

TEST_CASE("I19: what is told of a node was so, and nothing goes back") {
  FollowStory story = follows_a_tree();
  CHECK(count(story) == 0);
  SECTION("what never was") { story.told(13, "/tree/0", "changed", 11); }
  SECTION("a node that never was") { story.told(13, "/tree/7", "created", 13); }
  SECTION("an earlier version") { story.told(13, "/tree/0", "changed", 3); }
  SECTION("a deleted node that comes back") { story.told(15, "/tree/0", "created", 12); }
  SECTION("servers that have lost what they had") { story.told(13, "/tree", "reset"); }
  SECTION("a node that cannot be read") { story.told(13, "/tree/0", "unreadable"); }
  CHECK(count(story) == 1);
}

TEST_CASE("I19: what a server shows that has strayed proves nothing until it has begun anew") {
  FollowStory story = follows_a_tree();
  story.told(13, "/tree/0", "changed", 11);
  const bool is_in_time = GENERATE(true, false);
  const double at = is_in_time ? 12.5 : 9;
  story.fault(at - 1, "server_cut_off", 1).fault(at, "server_strayed", 1);
  story.fault(at + 0.5, "server_strayed", 1, Event::healed).fault(at + 0.6, "server_cut_off", 1, Event::healed);
  CHECK(count(story) == (is_in_time ? 0 : 1));
}

TEST_CASE("I19: versions between may be left out, and what came and went") {
  FollowStory story = follows_a_tree();
  story.set(13, theirs, "/tree/0", "y").make(17, theirs, "/tree/1").drop(18, theirs, "/tree/1");
  story.unsay(Event::told, "/tree/0", 14).told(14, "/tree/0", "deleted", 12).told(16, "/tree/0", "created", 16);
  CHECK(count(story) == 0);
}

TEST_CASE("I19: a change is told in time") {
  FollowStory story = follows_a_tree();
  const bool is_stopped = GENERATE(true, false);
  const std::string late = GENERATE("a deletion", "a change", "the beginning");
  INFO(late);
  if (late == "a deletion") story.unsay(Event::told, "/tree/0", 14);
  if (late == "a change") story.unsay(Event::told, "/tree/0", 12).told(16.1, "/tree/0", "changed", 16);
  if (late == "the beginning")
    story.unsay(Event::told, "/tree").told(6, "/tree", "created", 2).told(6, "/tree", "initialized");
  CHECK(count(story) == 1);
  if (is_stopped) {
    story.fault(4, "client_paused", 1, Event::fault, 1).fault(16.2, "client_paused", 1, Event::healed, 1);
    story.fault(16.3, "client_paused", 1, Event::fault, 1).fault(19.4, "client_paused", 1, Event::healed, 1);
  } else {
    story.fault(3, "link_silent", 3, Event::fault, 1);
  }
  CHECK(count(story) == 0);
}

TEST_CASE("I19: live is told when all is known that happened before the connection") {
  FollowStory story = follows_a_tree();
  story.unsay(Event::told, "/tree/0", 14).told(13.5, "/tree", "stale").told(16.1, "/tree/0", "created", 16);
  story.says(14.85, {.event = Event::told, .lock = "/tree", .number = 14'800'000, .reason = "live"});
  SECTION("it is") { story.told(14.84, "/tree/0", "deleted", 12); }
  SECTION("a leader that is cut off knows no better") {
    story.told(14.9, "/tree/0", "deleted", 12);
    story.fault(13, "server_cut_off", 1).fault(14.7, "server_cut_off", 1, Event::healed);
  }
  CHECK(count(story) == 0);
}

TEST_CASE("I19: live is told too early") {
  FollowStory story = follows_a_tree();
  story.unsay(Event::told, "/tree/0", 14).told(13.5, "/tree", "stale").told(16.1, "/tree/0", "created", 16);
  story.says(14.85, {.event = Event::told, .lock = "/tree", .number = 14'800'000, .reason = "live"});
  story.told(14.9, "/tree/0", "deleted", 12);
  CHECK(count(story) == 1);
}

TEST_CASE("I19: at the end the copy equals the servers' tree") {
  FollowStory story = follows_a_tree();
  SECTION("a node is missing") { story.unsay(Event::holds, "/tree/0"); }
  SECTION("a node has another version") {
    story.unsay(Event::holds, "/tree").says(19.1, {.event = Event::holds, .lock = "/tree", .token = 1});
  }
  SECTION("a node too many") { story.says(19.1, {.event = Event::holds, .lock = "/tree/5", .token = 5}); }
  SECTION("it is not known in time") {
    story.unsay(Event::held, "/tree").says(19.2, {.event = Event::held, .lock = "/tree", .reason = "not_in_time"});
  }
  CHECK(count(story) == 1);
}

TEST_CASE("I19: the followers of a count are shown its versions in their order") {
  FollowStory story;
  story.make(10, theirs, "/counts/0").set(12, theirs, "/counts/0", "abcd").set(13, theirs, "/counts/0", "abce");
  story.says(9, {.event = Event::follows, .lock = "/counts/0"});
  story.told(9.1, "/counts/0", "deleted").told(10.1, "/counts/0", "changed", 10);
  story.told(13, "/counts/0", "changed", 13).says(19, {.event = Event::unfollows, .lock = "/counts/0"});
  CHECK(count(story) == 0);
  SECTION("back") { story.told(14, "/counts/0", "changed", 12); }
  SECTION("not the last one") { story.unsay(Event::told, "/counts/0", 13).told(12.1, "/counts/0", "changed", 12); }
  CHECK(count(story) == 1);
}
