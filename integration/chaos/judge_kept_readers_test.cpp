// The judge on histories made by hand of read locks that their clients keep.
#include "judge_kept_story.hpp"
#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace zklock;
using namespace zklock::chaos;

namespace {

using Kind = AuditRecord::Kind;

constexpr const char* reader_node = "_c_00000000-0000-0000-0000-00000000000a-__READ__0000000000";
constexpr const char* writer_node = "_c_00000000-0000-0000-0000-00000000000b-__WRIT__0000000001";

Turn reading(double from, double to, std::int64_t operation, std::int64_t token = 10) {
  return {.from = from,
          .to = to,
          .operation = operation,
          .token = token,
          .name = reader_node,
          .share = Share::with_readers};
}

Turn writing(double from, double to, std::int64_t operation, std::int64_t token, int process = 2) {
  return {.from = from, .to = to, .operation = operation, .token = token, .process = process, .name = writer_node};
}

Story& drained(Story& story) { return story.user(40, Event::drained, 1, 0).user(40, Event::drained, 2, 0); }

/// Three readers of a client use its node, two of them at once. A writer of another client comes meanwhile.
Story kept_readers() {
  Story story{"silent_rw0"};
  story.create(10, one, reader_node).mark(11, one, reader_node).create(14, two, writer_node).mark(15, one, reader_node);
  story.remove(16, one, reader_node).mark(17, two, writer_node).remove(18, two, writer_node);
  turn(story, reading(10.2, 11, 1));
  turn(story, reading(11.2, 14.5, 2));
  turn(story, reading(12.2, 15.8, 3));
  turn(story, writing(16.2, 17.9, 4, 14));
  story.ends_by_metrics(1, 3).ends_by_metrics(2, 1);
  drained(story);
  return story;
}

}  // namespace

TEST_CASE("kept readers: several share a node, a writer comes after the last of them") {
  Story story = kept_readers();
  CHECK(all_violations(story) == std::vector<std::string>{});
}

TEST_CASE("kept readers: a process without an audit log owes none") {
  Story story = kept_readers();
  story.evidence.audit.clear();
  CHECK_FALSE(check_audit(story.tell()).empty());
  for (const int process : {1, 2}) story.user(1, Event::measured, process, 0, "no_audit_log");
  CHECK(check_audit(story.tell()).empty());
}

TEST_CASE("I1: a kept reader comes after a writer with a greater token, or with the token of another client") {
  Story story = kept_readers();
  SECTION("let in") {
    story.visit(18.5, Event::entered, 1, 10);
    story.evidence.visits.back().number = static_cast<std::int64_t>(Share::with_readers);
  }
  SECTION("turned away") { story.visit(18.5, Event::turned_away, 1, 10); }
  SECTION("another client's") { record_of(story.evidence.users, 2, Event::granted).process = 2; }
  CHECK(check_fenced_exclusion(story.tell()).size() == 1);
}

TEST_CASE("I2: a writer is inside beside one of several kept readers") {
  Story story = kept_readers();
  record_of(story.evidence.visits, 3, Event::left).at = 17 * second;
  std::ranges::stable_sort(story.evidence.visits, {}, &Record::at);
  CHECK(check_overlaps(story.tell()).size() == 1);
}

TEST_CASE("I2, I4: when the session of kept readers has ended, each of them is told") {
  const auto found = [](bool is_second_told) {
    Story story{"silent_rw0"};
    story.create(10, one, reader_node).close(13, one).create(14, two, writer_node);
    turn(story, reading(10.2, 20, 1));
    turn(story, reading(10.4, 20, 2));
    turn(story, writing(14.2, 18, 3, 14));
    for (const std::int64_t operation : {1, 2}) {
      story.user(11, Event::listens, 1, 10);
      story.evidence.users.back().operation = operation;
      if (operation == 1 || is_second_told) story.user(13, Event::lost, 1, 10);
      story.evidence.users.back().operation = operation;
    }
    for (Record& each : story.evidence.users)
      if (each.event == Event::released && each.process == 1) each.reason = "lock_lost";
    return std::pair{check_overlaps(story.tell()).size(), check_losses(story.evidence).size()};
  };
  CHECK(found(true) == std::pair<std::size_t, std::size_t>{0, 0});
  CHECK(found(false) == std::pair<std::size_t, std::size_t>{1, 1});
}

TEST_CASE("I3: a writer is granted the lock while a kept reader's node is there") {
  Story story{"silent_rw0"};
  story.create(10, one, reader_node).create(12, two, writer_node);
  SECTION("by a mark") { story.mark(13, two, writer_node); }
  SECTION("by a grant without one") { turn(story, writing(13.2, 14, 1, 12)); }
  CHECK(check_grants(story.tell()).size() == 1);
}

TEST_CASE("I3: a client's own writer waits for the last of its kept readers, not for their node") {
  const auto granted_at = [](double at) {
    Story story{"silent_rw0"};
    story.create(10, one, reader_node).create(12, one, writer_node).remove(17, one, reader_node);
    turn(story, reading(10.2, 11, 1));
    turn(story, reading(10.4, 15, 2));
    turn(story, writing(at, at + 0.5, 3, 12, 1));
    return check_grants(story.tell()).size();
  };
  CHECK(granted_at(12.5) == 1);
  CHECK(granted_at(15) == 0);
}

TEST_CASE("I5: readers are let in by a kept node though a writer, of any client, waits behind it") {
  const auto granted_at = [](double at, std::int64_t session, const std::string& behind) {
    Story story{"silent_rw4"};  // no reader goes ahead of a writer
    story.create(10, one, reader_node).create(12, session, behind);
    turn(story, reading(10.2, 11, 1));
    Turn next = reading(at, at + 0.5, 2);
    next.invoked = 11.5;
    turn(story, next);
    return check_order(story.tell()).size();
  };
  for (const std::int64_t session : {one, two}) {
    CHECK(granted_at(12.5, session, writer_node) == 0);
    CHECK(granted_at(14, session, writer_node) == 1);
  }
  CHECK(granted_at(14, two, "_c_00000000-0000-0000-0000-00000000000b-__READ__0000000001") == 0);
}

TEST_CASE("I5, I8: readers go on by a kept node when the writer behind it has given up") {
  const auto found = [](std::int64_t gone_at) {
    Story story{"silent_rw0"};
    story.create(10, one, reader_node).create(12, two, writer_node).remove(gone_at, two, writer_node);
    turn(story, reading(10.2, 11, 1));
    turn(story, reading(14.5, 15, 2));
    story.remove(18, one, reader_node);
    return std::pair{check_order(story.tell()).size(), check_nodes(story.evidence).size()};
  };
  CHECK(found(13) == std::pair<std::size_t, std::size_t>{0, 0});
  CHECK(found(17) == std::pair<std::size_t, std::size_t>{1, 1});
}

TEST_CASE("I5: a writer is overtaken by a reader that came after it") {
  constexpr const char* later = "_c_00000000-0000-0000-0000-00000000000c-__READ__0000000002";
  Story story{"silent_rw0"};
  story.create(10, two, writer_node).create(11, one, later).mark(12, one, later).remove(13, one, later);
  CHECK(check_order(story.mark(14, two, writer_node).tell()).size() == 1);
}

TEST_CASE("I6: a writer behind kept readers is granted too late, or refused when it was its turn") {
  const auto behind_readers = [] {
    Story story{"silent_rw0"};
    story.create(10, one, reader_node).create(12, two, writer_node);
    story.remove(16, one, reader_node).remove(19, two, writer_node);
    turn(story, reading(10.2, 15.8, 1));
    return story;
  };
  SECTION("late") {
    Story story = behind_readers();
    turn(story, writing(17.5, 18, 2, 12));
    CHECK(check_liveness(drained(story).tell()).size() == 1);
  }
  SECTION("refused") {
    const auto refused_at = [&](double at, const std::string& kind) {
      Story story = behind_readers();
      return find_passed_over(story.refused(11.8, at, 2, 2, kind, "/locks/silent_rw0").tell()).size();
    };
    for (const char* kind : {"silent_write", "write", "curator"}) {
      CHECK(refused_at(18, kind) == 1);
      CHECK(refused_at(16.5, kind) == 0);
    }
    CHECK(refused_at(18, "silent_read") == 0);  // a reader's attempt makes no such node
  }
}

TEST_CASE("I7: a kept reader's acquire has no end, or two outcomes") {
  Story story = kept_readers();
  SECTION("no end") { record_of(story.evidence.users, 2, Event::finished).event = Event::late; }
  SECTION("two outcomes") {
    story.user(11.3, Event::refused, 1, 0);
    story.evidence.users.back().operation = 2;
  }
  CHECK(check_outcomes(story.tell()).size() == 1);
}

TEST_CASE("I8: a kept reader's node stays for too long, though nobody reads by it, or though a writer waits") {
  const auto stays = [](std::int64_t until, bool is_wanted, double last_read_until = 11) {
    Story story{"silent_rw0"};
    story.create(10, one, reader_node);
    turn(story, reading(10.2, last_read_until, 1));
    turn(story, reading(10.4, 11, 2));  // as long as the other one reads, the node stays
    if (is_wanted) story.create(12, two, writer_node).remove(until + 1, two, writer_node);
    return check_nodes(drained(story.remove(until, one, reader_node)).tell()).size();
  };
  CHECK(stays(19, false) == 0);
  CHECK(stays(21, false) == 1);
  CHECK(stays(13, true) == 0);
  CHECK(stays(14, true) == 1);
  CHECK(stays(26, true, 25.5) == 0);
  CHECK(stays(28, true, 25.5) == 1);
}

TEST_CASE("I17: a kept reader's grant is missing in the audit log, or its end") {
  Story story = kept_readers();
  auto& audit = story.evidence.audit;
  SECTION("a grant and its end") {
    audit.erase(audit.begin() + 2, audit.begin() + 4);
    audit[2].sequence = 3;
    audit[3].sequence = 4;
    story.ends_by_metrics(1, 2);
  }
  SECTION("an end") {
    audit[3].kind = Kind::other;
    story.ends_by_metrics(1, 2);
  }
  CHECK(check_audit(story.tell()).size() == 1);
}

TEST_CASE("I17: a kept reader's loss is a release in the audit log") {
  const auto found = [](Kind end_of_the_other) {
    Story story{"silent_rw0"};
    story.create(10, one, reader_node).close(13, one);
    for (const std::int64_t operation : {1, 2}) {
      turn(story, reading(10.2, 13.5, operation));
      story.user(13, Event::lost, 1, 10);
      story.evidence.users.back().operation = operation;
    }
    story.evidence.audit[1].kind = Kind::lost;
    story.evidence.audit[3].kind = end_of_the_other;
    return check_audit(story.ends_by_metrics(1, 2).user(40, Event::drained, 1, 0).tell()).size();
  };
  CHECK(found(Kind::lost) == 0);
  CHECK(found(Kind::released) == 1);
}

TEST_CASE("I17: readers that know that an operator has deleted their node may be faster than their client") {
  const auto found = [](double released_at) {
    Story story{"silent_rw0"};
    story.create(10, one, reader_node).remove(11, theirs, reader_node).fault(11, "node_deleted", theirs);
    turn(story, reading(10.2, released_at, 1));
    story.user(11.1, Event::lost, 1, 10);
    story.evidence.users.back().operation = 1;
    return check_audit(story.ends_by_metrics(1, 1).user(40, Event::drained, 1, 0).tell()).size();
  };
  CHECK(found(11.5) == 0);
  CHECK(found(30) > 0);
}
