// I18 on histories made by hand, in which it holds or is violated.
#include "follow_story.hpp"
#include "support/catch.hpp"

using namespace zklock;
using namespace zklock::chaos;

namespace {

const std::string kept = "/kept/slot-1";

/// A process keeps a node, gives it other data, and closes it.
FollowStory keeps_a_node() {
  FollowStory story;
  story.make(10, one, kept, "worker-1:0").set(12, one, kept, "worker-1:1").drop(20, one, kept);
  story.says(9.5, {.event = Event::keeps, .lock = kept});
  story.says(9.5, {.event = Event::wishes, .lock = kept, .reason = "worker-1:0"});
  story.says(11.9, {.event = Event::wishes, .lock = kept, .reason = "worker-1:1"});
  for (const double at : {10.1, 15.0, 19.4})
    story.says(at, {.event = Event::claims, .lock = kept, .token = 10, .session = one, .reason = "present"});
  story.says(19.5, {.event = Event::closes, .lock = kept});
  story.says(20.1, {.event = Event::closed, .lock = kept, .reason = "ok"});
  story.user(21, Event::drained, 1, 0);
  return story;
}

std::size_t count(FollowStory& story) { return check_presence(story.tell()).size(); }

}  // namespace

TEST_CASE("I18: a node that is kept is there, of its session and with its last data, until it is closed") {
  FollowStory story = keeps_a_node();
  CHECK(count(story) == 0);
  SECTION("not there at the end") {
    story.says(19.45, {.event = Event::claims, .lock = kept, .session = one, .reason = "absent"});
  }
  SECTION("other data at the end") { story.says(19, {.event = Event::wishes, .lock = kept, .reason = "worker-1:2"}); }
  SECTION("a node that never was") {
    story.says(16, {.event = Event::claims, .lock = kept, .token = 11, .session = one, .reason = "present"});
  }
  SECTION("closed with an error") {
    story.unsay(Event::closed, kept).says(20.1, {.event = Event::closed, .lock = kept, .reason = "aborted"});
  }
  CHECK(count(story) == 1);
}

TEST_CASE("I18: a node that is kept is made again in time") {
  FollowStory story = keeps_a_node();
  story.drop(13, two, kept);
  const bool in_time = GENERATE(true, false);
  story.make(in_time ? 14 : 15, one, kept, "worker-1:1");
  const std::int64_t made = in_time ? 14 : 15;
  story.unsay(Event::claims, kept, 14);
  story.says(19.4, {.event = Event::claims, .lock = kept, .token = made, .session = one, .reason = "present"});
  CHECK(count(story) == (in_time ? 0 : 1));
  if (in_time) return;
  SECTION("while its link is down") { story.fault(12, "link_silent", 3, Event::fault, 1); }
  SECTION("while it is stopped") {
    story.fault(13.1, "client_paused", 1, Event::fault, 1).fault(14.9, "client_paused", 1, Event::healed, 1);
  }
  SECTION("when it was killed") { story.fault(13.5, "client_killed", 1, Event::fault, 1); }
  CHECK(count(story) == 0);
}

TEST_CASE("I18: another client's node is waited for, and not taken for the own one") {
  FollowStory story;
  story.make(10, two, kept, "worker-2:0").close(14, two);
  story.make(15, one, kept, "worker-1:0");
  story.says(10.5, {.event = Event::keeps, .lock = kept});
  story.says(10.6, {.event = Event::claims, .lock = kept, .session = one, .reason = "taken"});
  story.says(15.1, {.event = Event::claims, .lock = kept, .token = 15, .session = one, .reason = "present"});
  CHECK(count(story) == 0);
  const auto claims = [&](double at, std::int64_t session) {
    story.says(at, {.event = Event::claims, .lock = kept, .token = 10, .session = session, .reason = "present"});
  };
  SECTION("for a moment, since the state is behind the session") {
    claims(11, one);
    claims(11.4, one);
    CHECK(count(story) == 0);
  }
  SECTION("for long") {
    claims(11, one);
    claims(11.4, one);
    claims(11.8, one);
    CHECK(count(story) == 1);
  }
  SECTION("for long, while it is stopped") {
    claims(11, one);
    claims(13, one);
    story.fault(11.1, "client_paused", 1, Event::fault, 1).fault(12.9, "client_paused", 1, Event::healed, 1);
    CHECK(count(story) == 0);
  }
}

TEST_CASE("I18: a node that stays when it was closed") {
  FollowStory story = keeps_a_node();
  story.transactions.pop_back();
  CHECK(count(story) == 0);  // the log ends
  story.user(25, Event::measured, 1, 0);
  CHECK(count(story) == 1);
  story.drop(21, one, kept);
  CHECK(count(story) == 0);
}

TEST_CASE("I18: a node that comes late is excused as long as its client looks for it") {
  FollowStory story = keeps_a_node();
  story.by_request(7);  // its last one deletes the node
  story.make(21, one, kept, "worker-1:0").by_request(5);
  story.user(26, Event::measured, 1, 0);
  SECTION("it goes") {
    story.drop(22, one, kept);
    CHECK(count(story) == 0);
  }
  SECTION("it stays") { CHECK(count(story) == 1); }
  SECTION("it is kept again") {
    story.says(21.5, {.event = Event::keeps, .lock = kept});
    story.says(21.5, {.event = Event::wishes, .lock = kept, .reason = "worker-1:0"});
    story.says(25, {.event = Event::claims, .lock = kept, .token = 21, .session = one, .reason = "present"});
    CHECK(count(story) == 0);
  }
}

namespace {

/// One member stays, the other one's session ends.
FollowStory shows_a_group() {
  FollowStory story;
  story.make(10, one, "/group/slot-1").make(12, two, "/group/slot-2").close(15, two);
  story.says(9.5, {.event = Event::follows, .lock = "/group"});
  const auto shows = [&](double at, const std::string& members) {
    story.says(at, {.event = Event::shows, .lock = "/group", .reason = "members:" + members});
  };
  shows(9.6, "");
  shows(10.1, "slot-1:10");
  shows(12.1, "slot-1:10,slot-2:12");
  shows(15.2, "slot-1:10");
  story.says(20, {.event = Event::unfollows, .lock = "/group"});
  return story;
}

}  // namespace

TEST_CASE("I18: a group is shown as it was at a moment, and at no earlier one than before") {
  FollowStory story = shows_a_group();
  CHECK(count(story) == 0);
  const auto shows = [&](double at, const std::string& members) {
    story.says(at, {.event = Event::shows, .lock = "/group", .reason = "members:" + members});
  };
  SECTION("one that never was") { shows(16, "slot-1:10,slot-2:14"); }
  SECTION("a part of it") { shows(11, "slot-2:12"); }
  SECTION("an earlier one") { shows(16, "slot-1:10,slot-2:12"); }
  CHECK(count(story) == 1);
}

TEST_CASE("I18: what a server shows of a group that has strayed proves nothing until it has begun anew") {
  FollowStory story = shows_a_group();
  story.fault(15.5, "server_cut_off", 1).fault(16.2, "server_strayed", 1);
  story.fault(16.4, "server_strayed", 1, Event::healed).fault(16.5, "server_cut_off", 1, Event::healed);
  const auto shows = [&](double at, const std::string& members) {
    story.says(at, {.event = Event::shows, .lock = "/group", .reason = "members:" + members});
  };
  SECTION("in that time") {
    shows(16, "slot-1:10,slot-2:12");
    shows(17, "slot-1:10");
    CHECK(count(story) == 0);
  }
  SECTION("later") {
    shows(19, "slot-1:10,slot-2:12");
    CHECK(count(story) == 1);
  }
  SECTION("for too long after it") {
    story.unsay(Event::unfollows, "/group");
    shows(16, "slot-1:10,slot-2:12");
    story.says(40, {.event = Event::unfollows, .lock = "/group"});
    CHECK(count(story) == 1);
  }
}

TEST_CASE("I18: a group that is live has what happened before there was a link") {
  FollowStory story = shows_a_group();
  const auto live = [&](double at, double without_link_at, const std::string& members) {
    story.says(at, {.event = Event::shows,
                    .lock = "/group",
                    .number = static_cast<std::int64_t>(without_link_at * second),
                    .reason = "members:" + members});
  };
  SECTION("all of it") {
    live(10.05, 9.9, "");
    live(12.2, 12.1, "slot-1:10,slot-2:12");
    live(15.1, 14.9, "slot-1:10,slot-2:12");  // until then the member was there
    live(15.5, 15.3, "slot-1:10");
    CHECK(count(story) == 0);
  }
  SECTION("not what a leader has begun, while servers start") {
    story.fault(14, "majority_killed", 1, Event::fault).fault(14.5, "majority_killed", 1, Event::healed);
    live(15.1, 15.15, "slot-1:10,slot-2:12");
    live(15.5, 15.3, "slot-1:10");
    CHECK(count(story) == 0);
  }
  SECTION("not all") {
    story.unsay(Event::shows, "/group", 15);
    live(15.4, 15.3, "slot-1:10,slot-2:12");
    live(15.5, 15.3, "slot-1:10");
    CHECK(count(story) == 1);
    story.fault(14, "leader_paused", 1, Event::fault).fault(14.5, "leader_paused", 1, Event::healed);
    CHECK(count(story) == 0);
  }
}

TEST_CASE("I18: a dead member goes from every view, and a living one comes, in time") {
  FollowStory story = shows_a_group();
  SECTION("the dead stay") { story.unsay(Event::shows, "/group", 15); }
  SECTION("the dead stay, and that is said again") {
    story.unsay(Event::shows, "/group", 15);
    for (double at = 15.5; at < 20; at += 0.5)
      story.says(at, {.event = Event::shows, .lock = "/group", .reason = "members:slot-1:10,slot-2:12"});
  }
  SECTION("the living do not come") { story.unsay(Event::shows, "/group", 12); }
  SECTION("nothing is shown") { story.unsay(Event::shows, "/group"); }
  CHECK(count(story) == 1);
  story.fault(9, "link_silent", 3, Event::fault, 1);
  CHECK(count(story) == 0);
}

TEST_CASE("I18: a member that is replaced in one transaction is at no moment missing") {
  FollowStory story = shows_a_group();
  story.drop(17, 33, "/group/slot-1").and_make("/group/slot-1", "");
  story.says(17.1, {.event = Event::shows, .lock = "/group", .reason = "members:slot-1:17"});
  CHECK(count(story) == 0);
  story.says(17.05, {.event = Event::shows, .lock = "/group", .reason = "members:"});
  CHECK(count(story) == 1);
}
