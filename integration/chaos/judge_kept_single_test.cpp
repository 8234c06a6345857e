// The judge on histories made by hand of semaphore mutexes whose permit their clients keep, and of acquires of such a
// client that go ahead of another one.
#include "judge_kept_story.hpp"
#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace zklock;
using namespace zklock::chaos;

namespace {

using Kind = AuditRecord::Kind;

constexpr const char* permit_node = "leases/_c_00000000-0000-0000-0000-00000000000a-lease-0000000000";
constexpr const char* later_permit = "leases/_c_00000000-0000-0000-0000-00000000000b-lease-0000000001";
constexpr const char* before_permit = "locks/_c_00000000-0000-0000-0000-00000000000b-lock-0000000001";

Turn using_permit(double from, double to, std::int64_t operation, std::int64_t token, int process = 1) {
  return {.from = from,
          .to = to,
          .operation = operation,
          .token = token,
          .process = process,
          .name = process == 1 ? permit_node : later_permit};
}

/// Of a lock, the node that is kept, and that of another client.
struct KeptNames {
  std::string line;
  std::string node;
  std::string behind;
};

/// A client uses the lock three times by one permit, gives it up for another client, which uses it once.
Story kept_permit(const std::string& line) {
  const bool is_confirmed = line == "confirmed_single0";
  Story story{line};
  story.create(10, one, permit_node).mark(11, one, permit_node);
  if (is_confirmed) story.write(12, one, permit_node, "worker-1:1");
  story.mark(13, one, permit_node);
  if (is_confirmed) story.write(14, one, permit_node, "worker-1:1");
  story.create(15, two, later_permit)
      .remove(16, one, permit_node)
      .mark(17, two, later_permit)
      .remove(18, two, later_permit);
  turn(story, using_permit(10.2, 11, 1, 10));
  turn(story, using_permit(12.2, 13, 2, is_confirmed ? 12 : 10));
  turn(story, using_permit(14.2, 15.8, 3, is_confirmed ? 14 : 10));
  turn(story, using_permit(16.2, 17.9, 4, 15, 2));
  story.user(20, Event::drained, 1, 0).user(20, Event::drained, 2, 0);
  story.ends_by_metrics(1, 3).ends_by_metrics(2, 1);
  return story;
}

Story some_kept_permit() { return kept_permit(GENERATE("confirmed_single0", "silent_single0")); }

}  // namespace

TEST_CASE("kept permits: each use has its grant, its token and its end") {
  Story story = some_kept_permit();
  CHECK(all_violations(story) == std::vector<std::string>{});
}

TEST_CASE("I1: a token of a kept permit is given twice though each grant is confirmed") {
  Story story = kept_permit("confirmed_single0");
  record_of(story.evidence.users, 2, Event::granted).token = 10;
  CHECK(check_fenced_exclusion(story.tell()).size() == 1);
}

TEST_CASE("I2: two have the lock at once, of one client, or of two") {
  Story story = some_kept_permit();
  const bool is_of_two = GENERATE(true, false);
  record_of(story.evidence.visits, is_of_two ? 3 : 1, Event::left).at = (is_of_two ? 17 : 14) * second;
  std::ranges::stable_sort(story.evidence.visits, {}, &Record::at);
  CHECK(check_overlaps(story.tell()).size() == 1);
}

TEST_CASE("I3: a permit is held beside one that its client keeps") {
  Story story{GENERATE("confirmed_single0", "silent_single0")};
  story.create(10, one, permit_node)
      .mark(11, one, permit_node)
      .create(12, two, later_permit)
      .mark(13, two, later_permit);
  CHECK(check_grants(story.tell()).size() == 1);
}

TEST_CASE("I5: a client grants itself a permit that it keeps though another client's node is beside it") {
  const auto granted_at = [](double at) {
    Story story{"silent_single0"};
    story.create(10, one, permit_node).create(12, two, later_permit);
    turn(story, using_permit(10.2, 11, 1, 10));
    turn(story, using_permit(at, at + 0.5, 2, 10));
    return check_order(story.tell()).size();
  };
  CHECK(granted_at(12.5) == 0);
  CHECK(granted_at(14) == 1);
}

TEST_CASE("I5: as many acquires as may, and that waited when another client came, go ahead of it") {
  const KeptNames names = GENERATE(KeptNames{"silent4", a, b}, KeptNames{"silent_single4", permit_node, later_permit});
  const auto found = [&](int acquires, double invoked) {
    Story story{names.line};
    story.create(10, one, names.node).create(12, two, names.behind);
    turn(story, using_permit(10.2, 13.9, 1, 10));
    for (int i = 0; i < acquires; ++i) {
      Turn next = using_permit(14 + i, 14.9 + i, 2 + i, 10);
      next.invoked = invoked;
      turn(story, next);
    }
    return check_order(story.tell()).size();
  };
  CHECK(found(3, 11) == 0);
  CHECK(found(5, 11) == 2);
  CHECK(found(1, 13.5) == 1);
}

TEST_CASE("I6: another client is granted too late what was given up to it, or is refused when there was room") {
  const std::string line = GENERATE("confirmed_single0", "silent_single0");
  Story story{line};
  story.create(10, one, permit_node)
      .create(12, two, later_permit)
      .remove(13, one, permit_node)
      .remove(20, two, later_permit);
  turn(story, using_permit(10.2, 12.8, 1, 10));
  SECTION("late") { turn(story, using_permit(14.5, 19, 2, 12, 2)); }
  SECTION("refused") { story.refused(11.8, 15, 2, 2, "single", "/locks/" + line); }
  for (const int process : {1, 2}) story.user(21, Event::drained, process, 0);
  CHECK(check_liveness(story.tell()).size() == 1);
}

TEST_CASE("I8: a kept permit stays for too long, though nobody uses it, or though another client waits") {
  const std::string line = GENERATE("confirmed_single0", "silent_single0");
  const auto stays = [&](std::int64_t until, bool is_wanted) {
    Story story{line};
    story.create(10, one, permit_node);
    turn(story, using_permit(10.2, 11, 1, 10));
    if (is_wanted) story.create(12, two, later_permit).remove(until + 1, two, later_permit);
    story.remove(until, one, permit_node);
    return check_nodes(story.tell()).size();
  };
  CHECK(stays(19, false) == 0);
  CHECK(stays(21, false) == 1);
  CHECK(stays(13, true) == 0);
  CHECK(stays(14, true) == 1);
}

TEST_CASE("I8: a node in the queue before a kept permit is not kept") {
  const auto stays = [](std::int64_t until) {
    Story story{"silent_single0"};
    story.create(10, two, before_permit).remove(until, two, before_permit);
    return check_nodes(story.refused(9.8, 12, 2, 1, "silent_single", "/locks/silent_single0").tell()).size();
  };
  CHECK(stays(13) == 0);
  CHECK(stays(14) == 1);
}

TEST_CASE("I11: a permit is confirmed by data that are not its client's") {
  Story story = kept_permit("confirmed_single0");
  story.transactions[3].changes.front().data = "worker-2:1";
  CHECK(check_node_data(story.tell()).size() == 2);  // and back
}

TEST_CASE("I17: a use of a kept permit is missing in the audit log, or its end") {
  Story story = some_kept_permit();
  auto& audit = story.evidence.audit;
  SECTION("a grant") { audit[2].kind = Kind::other; }
  SECTION("an end") {
    audit[3].kind = Kind::other;
    story.ends_by_metrics(1, 2);
  }
  SECTION("a wrong token") { audit[2].token = audit[3].token = 11; }
  CHECK_FALSE(check_audit(story.tell()).empty());
}
