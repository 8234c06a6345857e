// The judge on histories made by hand in which another library takes the locks, too.
#include "judge_story.hpp"
#include "layout.hpp"
#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace zklock;
using namespace zklock::chaos;

namespace {

/// Names of nodes: of a user and a foreign one, both Curator's, and both Kazoo's.
struct Names {
  std::string lock;
  std::string user;
  std::string foreign;
};

constexpr std::int64_t another_of_two = 33;  // a session of process 2
constexpr const char* c = "_c_00000000-0000-0000-0000-00000000000c-lock-0000000002";

Names some_names() {
  return GENERATE(Names{"silent0", a, b}, Names{"silent0", a, "0123456789abcdef0123456789abcdef-lock-0000000001"},
                  Names{"silent1", "_c_00000000-0000-0000-0000-00000000000a-__lock__0000000000",
                        "0123456789abcdef0123456789abcdef__lock__0000000001"});
}

/// Process 1 is a user, process 2 a foreign one.
Story with_foreign_user(const std::string& line) {
  Story story{line};
  story.user(1, Event::measured, 2, 0, "foreign_user");
  return story;
}

/// The user has the lock and keeps it until then; the foreign one has come at 12 s, and has it from `granted_at` on.
Story kept_until(std::int64_t until, double granted_at, const Names& names) {
  const auto [lock, user, foreign] = names;
  Story story = with_foreign_user(lock);
  story.create(10, one, user).create(12, two, foreign).remove(until, one, user).mark(17, two, foreign);
  story.remove(20, two, foreign);
  story.user(9.8, Event::invoked, 1, 10, "silent")
      .user(10.2, Event::granted, 1, 10)
      .user(10.9, Event::releasing, 1, 10);
  story.user(11, Event::released, 1, 10, "ok").user(11, Event::finished, 1, 10);
  story.user(11.8, Event::invoked, 2, 12, "curator").user(granted_at, Event::granted, 2, 12);
  story.user(19, Event::releasing, 2, 12).user(20, Event::released, 2, 12, "dropped").user(20, Event::finished, 2, 12);
  for (const int process : {1, 2}) story.user(21, Event::drained, process, 0);
  story.audit(10.2, AuditRecord::Kind::granted, 1, 10, user).audit(11, AuditRecord::Kind::released, 1, 10, user);
  story.ends_by_metrics(1, 1);
  return story;
}

}  // namespace

TEST_CASE("foreign users: a lock that is kept no longer is theirs, and they owe neither an audit log nor a view") {
  Story story = kept_until(13, 13.2, some_names());
  story.evidence.follows.push_back({.event = Event::follows, .process = 1, .lock = group_root});
  const Evidence& evidence = story.tell();
  for (const auto check :
       {check_fenced_exclusion, check_overlaps, check_grants, check_losses, check_order, check_liveness, check_outcomes,
        check_nodes, check_deleters, check_node_data, check_audit, check_following})
    CHECK(check(evidence).empty());
}

TEST_CASE("I1: a foreign user's token is no transaction that made a node of the lock") {
  Story story = kept_until(13, 13.2, some_names());
  for (Record& each : story.evidence.users)
    if (each.token == 12) each.token = 13;
  CHECK(check_fenced_exclusion(story.tell()).size() == 1);
}

TEST_CASE("I3: a foreign user's node keeps a user out, and a user's node a foreign user") {
  const auto [lock, user, foreign] = some_names();
  Story story = with_foreign_user(lock);
  SECTION("a foreign user has gone ahead") {
    story.create(10, one, user).create(11, two, foreign).mark(12, two, foreign);
  }
  SECTION("a user has gone ahead") {
    const std::string later = user.substr(0, user.size() - 1) + "2";
    story.create(10, two, foreign).create(11, one, later).mark(12, one, later);
  }
  CHECK(check_grants(story.tell()).size() == 1);
}

TEST_CASE("I5, I8: a kept lock is not given up to a foreign user") {
  Story story = kept_until(16, 16.2, some_names());
  CHECK(check_nodes(story.tell()).size() == 1);
  story.user(15, Event::granted, 1, 10);
  CHECK(check_order(story.tell()).size() == 1);
}

TEST_CASE("I6: a foreign user is granted too late what was given up to it") {
  const Names names = some_names();
  CHECK(check_liveness(kept_until(13, 13.9, names).tell()).empty());
  CHECK(check_liveness(kept_until(13, 14.5, names).tell()).size() == 1);
}

TEST_CASE("I6: a foreign user is granted next to nothing, but may be granted less than the users") {
  const auto granted_of_thirty = [](int granted) {
    Story story;
    for (int i = 1; i <= 30; ++i) story.user(i, Event::invoked, 2, i, "kazoo");
    for (int i = 1; i <= granted; ++i) story.user(i + 0.5, Event::granted, 2, i);
    for (int i = 1; i <= 3'000; ++i) story.user(i, Event::invoked, 1, i, "mutex").user(i, Event::granted, 1, i);
    return find_starved(story.tell()).size();
  };
  CHECK(granted_of_thirty(2) == 1);
  CHECK(granted_of_thirty(4) == 0);
}

TEST_CASE(
    "I2: a foreign user that is inside beside a user is excused once its session is over, however long it stays") {
  const auto overlaps = [](bool is_foreign, bool has_ended) {
    Story story;
    if (is_foreign) story.user(1, Event::measured, 2, 0, "foreign_user");
    story.create(10, two, a).create(11, one, b);
    if (has_ended) story.close(12, two);
    story.visit(10.5, Event::entered, 2, 10).visit(13, Event::entered, 1, 11).visit(30, Event::left, 2, 10);
    return check_overlaps(story.tell()).size();
  };
  CHECK(overlaps(true, true) == 0);
  CHECK(overlaps(true, false) == 1);
  CHECK(overlaps(false, true) == 1);
}

TEST_CASE("I9: a foreign user may delete by one session what it has made by another, and no other process's nodes") {
  const auto found = [](bool is_foreign, std::int64_t remover) {
    Story story;
    if (is_foreign) story.user(1, Event::measured, 2, 0, "foreign_user");
    story.create(10, two, a).create(11, another_of_two, b).create(12, one, c);
    story.remove(13, remover, a);
    return check_deleters(story.tell()).size();
  };
  constexpr std::int64_t of_no_node = 0x99;
  CHECK(found(true, another_of_two) == 0);
  CHECK(found(true, of_no_node) == 0);
  CHECK(found(true, one) == 1);
  CHECK(found(false, another_of_two) == 1);
  CHECK(found(false, of_no_node) == 1);

  Story story;  // a user's session without a node
  story.user(1, Event::measured, 2, 0, "foreign_user").user(2, Event::trusts, 1, 0);
  story.evidence.users.back().session = of_no_node;
  story.create(10, two, a).remove(13, of_no_node, a);
  CHECK(check_deleters(story.tell()).size() == 1);
}

TEST_CASE("I6, I8: a foreign user may make two nodes by one attempt, and wait behind its own") {
  const auto found = [](bool is_foreign, const std::string& prefix) {
    Story story{"silent0"};
    if (is_foreign) story.user(1, Event::measured, 2, 0, "foreign_user");
    story.refused(9.5, 32, 2, 1, "curator", "/locks/silent0");
    for (const char* number : {"0000000000", "0000000001"})
      story.create(number[9] == '0' ? 10 : 11, two, prefix + "lock-" + number);
    story.remove(32, two, prefix + "lock-0000000000").remove(33, two, prefix + "lock-0000000001");
    return std::pair{find_passed_over(story.tell()).size(), check_nodes(story.evidence).size()};
  };
  const std::string curators = "_c_00000000-0000-0000-0000-00000000000b-";
  CHECK(found(true, curators) == std::pair<std::size_t, std::size_t>{0, 0});
  CHECK(found(true, "0123456789abcdef0123456789abcdef-") == std::pair<std::size_t, std::size_t>{0, 0});
  CHECK(found(false, curators) == std::pair<std::size_t, std::size_t>{1, 1});
}
