// The judge on histories made by hand of locks that their clients keep.
#include "judge_kept_story.hpp"
#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace zklock;
using namespace zklock::chaos;

namespace {

using Kind = AuditRecord::Kind;

/// A client uses the lock three times by one node, gives it up for another client, which uses it once.
Story kept(const std::string& line) {
  const bool is_confirmed = line == "confirmed0";
  Story story{line};
  story.create(10, one, a);
  if (is_confirmed) story.write(12, one, a, "worker-1:1").write(14, one, a, "worker-1:1");
  story.create(15, two, b).remove(16, one, a).mark(17, two, b).remove(18, two, b);
  turn(story, {10.2, 11, 1, 10});
  turn(story, {12.2, 13, 2, is_confirmed ? 12 : 10});
  turn(story, {14.2, 15.8, 3, is_confirmed ? 14 : 10});
  turn(story, {16.2, 17.9, 4, 15, 2});
  story.user(20, Event::drained, 1, 0).user(20, Event::drained, 2, 0);
  story.ends_by_metrics(1, 3).ends_by_metrics(2, 1);
  return story;
}

}  // namespace

TEST_CASE("kept locks: each use has its grant, its token and its end") {
  for (const char* line : {"confirmed0", "silent0"}) {
    Story story = kept(line);
    CHECK(all_violations(story) == std::vector<std::string>{});
  }
}

TEST_CASE("I1: a token of a kept lock that the servers have not given, or that is older than one before") {
  Story story = kept("confirmed0");
  SECTION("that of the node, again") {
    story.evidence.visits[2].token = story.evidence.visits[3].token = 10;
    story.evidence.users[6].token = 10;
    CHECK(check_fenced_exclusion(story.tell()).size() == 1);  // two have the same one
  }
  SECTION("that of a confirmation after another client's create") {
    story.write(19, one, a, "worker-1:1");  // no node is there
    story.visit(18.5, Event::turned_away, 2, 15);
    CHECK(check_fenced_exclusion(story.tell()).size() == 1);
  }
}

TEST_CASE("I2: two uses of a kept lock overlap in one client") {
  for (const char* line : {"confirmed0", "silent0"}) {
    Story story = kept(line);
    story.evidence.visits[1].at = 14 * second;
    std::swap(story.evidence.visits[1], story.evidence.visits[2]);
    CHECK(check_overlaps(story.tell()).size() == 1);
  }
}

TEST_CASE("I3: a client is let in although a kept node is there, or was confirmed once more") {
  for (const char* line : {"confirmed0", "silent0"}) {
    Story story{line};
    story.create(10, one, a).create(11, two, b);
    if (std::string{line} == "confirmed0") story.write(12, one, a, "worker-1:1");
    story.mark(13, two, b);
    CHECK(check_grants(story.tell()).size() == 1);
  }
}

TEST_CASE("I5: a client grants itself a kept lock again and again while another one waits") {
  const auto granted_at = [](double at, bool for_the_first_time = false) {
    Story story{"silent0"};
    story.create(10, one, a).create(12, two, b).remove(19, one, a).remove(20, two, b);
    if (!for_the_first_time) turn(story, {10.2, 11, 1, 10});
    turn(story, {at, at + 0.5, 2, 10});
    return check_order(story.tell()).size();
  };
  CHECK(granted_at(12.5) == 0);
  CHECK(granted_at(14) == 1);
  CHECK(granted_at(14, true) == 0);
}

TEST_CASE("I5: the first grant of a kept node is by the wait queue, however long another one has waited behind it") {
  Story story{"silent0"};
  story.create(10, one, a).create(12, two, b);
  turn(story, {14, 14.5, 1, 10});
  CHECK(check_order(story.tell()).empty());
}

TEST_CASE("I8: a kept node stays for too long, though nobody uses it, or though another client waits") {
  const auto stays = [](std::int64_t until, bool is_wanted) {
    Story story{"silent0"};
    story.create(10, one, a);
    turn(story, {10.2, 11, 1, 10});
    if (is_wanted) story.create(12, two, b).remove(until + 1, two, b);
    story.remove(until, one, a).user(40, Event::drained, 1, 0).user(40, Event::drained, 2, 0);
    return check_nodes(story.tell()).size();
  };
  CHECK(stays(19, false) == 0);
  CHECK(stays(21, false) == 1);
  CHECK(stays(13, true) == 0);
  CHECK(stays(14, true) == 1);
}

TEST_CASE("I17: a use of a kept lock is missing in the audit log, or its end") {
  Story story = kept(GENERATE("confirmed0", "silent0"));
  auto& audit = story.evidence.audit;
  SECTION("a grant") { audit[2].kind = Kind::other; }
  SECTION("an end") {
    audit[3].kind = Kind::other;
    story.evidence.users.front().number = 2;
  }
  SECTION("a wrong token") { audit[2].token = audit[3].token = 11; }
  SECTION("a grant twice") { audit[4].attempt = 2; }
  CHECK_FALSE(check_audit(story.tell()).empty());
}

TEST_CASE("the release of a kept lock asks no server: a node that is gone is missed a little later") {
  const auto released_at = [](double at) {
    Story story{"confirmed0"};
    story.create(10, one, a).remove(11, theirs, a);
    story.fault(11, "node_deleted", theirs);
    turn(story, {10.2, at, 1, 10});
    return check_losses(story.tell()).size();
  };
  CHECK(released_at(11.5) == 0);
  CHECK(released_at(30) == 1);

  Story story{"confirmed0"};  // the servers end a session only when the client knows that it is over
  story.create(10, one, a).close(11, one);
  turn(story, {10.2, 11.5, 1, 10});
  CHECK(check_losses(story.tell()).size() == 1);
}

TEST_CASE("a kept lock is given back within the call, though its user may be stopped before it is told so") {
  const auto begun_at = [](const char* line, double at) {
    Story story{line};
    story.create(10, one, a).close(12, one);
    story.user(10.2, Event::granted, 1, 10).user(at, Event::releasing, 1, 10).user(14, Event::released, 1, 10, "ok");
    return check_losses(story.tell()).size();
  };
  CHECK(begun_at("silent0", 11) == 0);
  CHECK(begun_at("silent0", 13) == 1);
  CHECK(begun_at("mutex0", 11) == 1);  // its delete is to be answered
}
