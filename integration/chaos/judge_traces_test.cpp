// I8 to I15 on histories made by hand, in which they hold or are violated.
#include "judge_story.hpp"
#include "support/catch.hpp"

using namespace zklock;
using namespace zklock::chaos;

TEST_CASE("I8: a node that is left, and two nodes of one attempt") {
  Story story = handed_off();
  SECTION("left") { story.create(30, one, "_c_00000000-0000-0000-0000-00000000000c-lock-0000000002"); }
  SECTION("left by the servers' own word") { story.measure("zk_ephemerals_count", 1); }
  SECTION("two") {
    story.create(30, one, a).create(31, one, "_c_00000000-0000-0000-0000-00000000000a-lock-0000000003").close(32, one);
  }
  CHECK(check_nodes(story.tell()).size() == 1);
}

TEST_CASE("I8: two nodes of one attempt, where the servers have reordered its creates") {
  Story story = handed_off();
  const bool turned_round = GENERATE(true, false);
  story.create(30, one, a).by_request(turned_round ? 8 : 7);
  story.create(31, one, "_c_00000000-0000-0000-0000-00000000000a-lock-0000000003").by_request(turned_round ? 7 : 8);
  story.close(32, one);
  CHECK(check_nodes(story.tell()).size() == (turned_round ? 0 : 1));
}

TEST_CASE("I8: two nodes of one attempt, where a server has strayed and may not have shown the first") {
  Story story = handed_off();
  story.create(30, one, a).create(31, one, "_c_00000000-0000-0000-0000-00000000000a-lock-0000000003").close(32, one);
  const auto strays = [&](double after, double until) {
    story.fault(after, "leader_killed", 1).fault(until - 2, "leader_killed", 1, Event::healed);
    story.fault(until - 1, "server_strayed", 2).fault(until, "server_strayed", 2, Event::healed);
  };
  bool is_excused = false;
  SECTION("while it did") {
    strays(30.5, 35);
    SECTION("and the link is not lost") { story.measure("connections", 3, 30).measure("connections", 3, 32); }
    SECTION("and the link is lost") {
      story.measure("connections", 3, 30).measure("connections", 4, 32);
      is_excused = true;
    }
  }
  SECTION("at another time") {
    story.measure("connections", 3, 30).measure("connections", 4, 32);
    SECTION("before") { strays(20, 28); }
    SECTION("after") { strays(31.5, 35); }
  }
  CHECK(check_nodes(story.tell()).size() == (is_excused ? 0 : 1));
}

namespace {

/// A node that stays until its session ends, though its operation ends at 12 s.
Story overstays(std::int64_t until, std::int64_t made = 10) {
  Story story;
  story.create(made, one, a).close(until, one);
  return story.refused(9.9, 12, 1, 50, "mutex");
}

}  // namespace

TEST_CASE("I8: a node that outlives its operation") {
  CHECK(check_nodes(overstays(13).tell()).empty());
  CHECK(check_nodes(overstays(14).tell()).size() == 1);
  SECTION("while its link is down") {
    CHECK(check_nodes(overstays(20).fault(11, "link_silent", 3, Event::fault, 1).tell()).empty());
    CHECK(check_nodes(overstays(20).fault(11, "link_silent", 3, Event::fault, 2).tell()).size() == 1);
  }
  SECTION("for longer than any trouble lasts") {
    CHECK(check_nodes(overstays(60).fault(11, "link_silent", 3, Event::fault, 1).tell()).size() == 1);
  }
  SECTION("of a lock that was released") {
    Story story;
    story.create(10, one, a).close(16, one).user(10.1, Event::granted, 1, 10).user(12, Event::releasing, 1, 10);
    CHECK(check_nodes(story.tell()).size() == 1);
  }
  SECTION("of a process that was killed") {
    CHECK(check_nodes(overstays(20).fault(12, "client_killed", 1).tell()).empty());
    CHECK(check_nodes(overstays(20).fault(9'000, "client_killed", 1).tell()).size() == 1);
  }
}

TEST_CASE("I8: a create that the servers carry out too late is excused") {
  SECTION("after a later request of its session") {
    Story story;
    story.write(9, one, "x", "").by_request(8).create(10, one, a).by_request(7).close(60, one);
    CHECK(check_nodes(story.refused(9.9, 12, 1, 50, "mutex").tell()).empty());
  }
  SECTION("when its operation was over, and its link") {
    Story story = overstays(60, 13);
    CHECK(check_nodes(story.tell()).size() == 1);
    story.measure("connections", 3, 9).measure("connections", 4, 15);
    CHECK(check_nodes(story.tell()).empty());
  }
}

TEST_CASE("I9: a node is deleted by a client that is neither its owner nor an operator") {
  Story story;
  story.create(10, one, a).remove(11, two, a);
  CHECK(check_deleters(story.tell()).size() == 1);
  CHECK(check_deleters(story.fault(10.5, "node_deleted", two).tell()).empty());
}

TEST_CASE("I8, I10: a node or watch counts as left if most servers have it") {
  Story story = handed_off();
  story.measure("zk_ephemerals_count", 7).measure("zk_ephemerals_count", 0).measure("zk_ephemerals_count", 0);
  CHECK(check_nodes(story.tell()).empty());
  story.measure("zk_ephemerals_count", 7).measure("zk_ephemerals_count", 7);
  CHECK(check_nodes(story.tell()).size() == 1);
}

TEST_CASE("I10: a watch that is left") {
  CHECK(check_watches(handed_off().measure("zk_watch_count", 1).tell()).size() == 1);
}

TEST_CASE("I11: a node's data are no client and count, or another client's") {
  Story story;
  story.create(10, one, a).write(11, one, a, "worker-1:2");
  CHECK(check_node_data(story.tell()).empty());
  SECTION("no count") { story.write(12, one, a, "worker-1:0"); }
  SECTION("another client") { story.write(12, one, a, "worker-2:1"); }
  SECTION("another session") { story.write(12, two, a, "worker-1:3"); }
  CHECK(check_node_data(story.tell()).size() == 1);
}

TEST_CASE("I12, I14, I15: descriptors that grow, a host that changes, an I/O thread that is late") {
  Story story = handed_off();
  const auto measured = [&](const char* what, std::int64_t number) {
    story.evidence.users.push_back({.event = Event::measured, .process = 1, .number = number, .reason = what});
  };
  measured("descriptors", 10);
  measured("descriptors", 30);
  measured("changes_of_the_host", 1);
  for (const std::int64_t at : {30, 31, 32, 33})
    story.evidence.users.push_back(
        {.at = at * second, .event = Event::stalled, .process = 1, .token = 200, .number = 80});
  CHECK(check_resources(story.tell()).size() == 1);
  CHECK(check_isolation(story.tell()).size() == 1);
  CHECK(check_loop(story.tell()).size() == 4);
  const auto stood_still = [&](std::int64_t at, std::int64_t milliseconds) {
    story.evidence.faults.push_back({.at = at, .event = Event::late, .number = milliseconds});
  };
  stood_still(31 * second, 20);
  stood_still(31 * second - 400'000, 60);
  stood_still(31 * second + 300'000, 60);
  CHECK(check_loop(story.tell()).size() == 4);
  SECTION("on a processor that stood still") { stood_still(31 * second, 40); }
  SECTION("on a processor that stood still before the thread waited for it") { stood_still(31 * second - 190'000, 40); }
  SECTION("stopped") { story.fault(29, "client_paused", 1).fault(33, "client_paused", 1, Event::healed); }
  SECTION("on a machine that is late") {
    story.evidence.users.push_back({.at = 31 * second, .event = Event::late, .process = 2, .number = 60});
  }
  SECTION("with others, on a machine that is late") {
    story.evidence.users.push_back({.at = 30 * second, .event = Event::stalled, .process = 2, .number = 80});
  }
  CHECK(check_loop(story.tell()).empty());
}

TEST_CASE("I13: connections without end, and requests without end") {
  Story story = handed_off();
  SECTION("connections") { story.measure("connections", 0, 1).measure("connections", 1'000, 2); }
  SECTION("requests") { story.measure("requests", 1'000); }
  CHECK(check_retries(story.tell()).size() == 1);
}
