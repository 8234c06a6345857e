// I17 on histories made by hand, in which it holds or is violated.
#include "judge_story.hpp"
#include "support/catch.hpp"

using namespace zklock;
using namespace zklock::chaos;

namespace {

using Kind = AuditRecord::Kind;

std::size_t violations(Story& story) { return check_audit(story.tell()).size(); }

}  // namespace

TEST_CASE("I17: a grant or its end is missing, is there twice, or is another") {
  Story story = handed_off();
  auto& audit = story.evidence.audit;
  REQUIRE(violations(story) == 0);
  SECTION("no end") {
    audit.pop_back();
    story.evidence.users.back().number = 0;
  }
  SECTION("no grant") {
    audit[2].kind = Kind::other;
    CHECK(violations(story) == 2);  // nor does its end fit one
    return;
  }
  SECTION("two grants") { story.audit(13.3, Kind::granted, 2, 12, b); }
  SECTION("two ends") {
    story.audit(15.1, Kind::lost, 2, 12, b);
    story.evidence.users.back().number = 2;
  }
  SECTION("a wrong token") { audit[2].token = audit[3].token = 10; }
  SECTION("an end with another token") { audit[3].token = 10; }
  SECTION("an end of another attempt") { audit[3].attempt = 10; }
  SECTION("another session") { audit[2].session = one; }
  SECTION("a node that the servers have not made") {
    audit[2].node += '0';
    audit[3].node += '0';
    CHECK(violations(story) == 2);  // and its user's grant is missing
    return;
  }
  SECTION("a loss while its release is under way, which the servers alone know nothing of") {
    story.user(14.9, Event::releasing, 2, 12);
    audit[3].kind = Kind::lost;
  }
  SECTION("a loss of what was released") {
    audit[3].kind = Kind::lost;
    CHECK(violations(story) == 2);  // nor do the servers know of a loss
    return;
  }
  SECTION("a release of what its user knew to be lost") {
    for (Record& each : story.evidence.users)
      if (each.event == Event::released && each.process == 2) each.reason = "lock_lost";
    story.user(14.5, Event::lost, 2, 12);
  }
  SECTION("a record is missing, and not counted") { audit[3].sequence = 3; }
  CHECK(violations(story) == 1);
}

TEST_CASE("I17: a release is the node's deletion by its session, or its session's end") {
  Story story;
  story.create(10, one, a).mark(11, one, a).audit(10.1, Kind::granted, 1, 10, a).audit(14, Kind::released, 1, 10, a);
  story.user(10.1, Event::granted, 1, 10).visit(10.2, Event::entered, 1, 10).visit(12.5, Event::left, 1, 10);
  story.measure("connections", 3, 12);
  const bool link_is_lost = GENERATE(false, true);
  story.measure("connections", link_is_lost ? 4 : 3, 15);
  SECTION("by its session") { CHECK(violations(story.remove(13, one, a)) == 0); }
  SECTION("its session's end") { CHECK(violations(story.close(13, one)) == 0); }
  SECTION("by another, and the reply may be lost") {
    CHECK(violations(story.remove(13, theirs, a)) == std::size_t{link_is_lost ? 0U : 1U});
  }
  SECTION("by another, while the release waits") { CHECK(violations(story.remove(15, theirs, a)) == 0); }
  SECTION("never") { CHECK(violations(story) == 1); }
}

TEST_CASE("I17: a loss is the session's end or a deletion by another, unless the client had to fear it") {
  Story story;
  story.create(10, one, a).mark(11, one, a).audit(10.1, Kind::granted, 1, 10, a);
  const auto lost = [&](const char* cause) { return violations(story.audit(14, Kind::lost, 1, 10, a, cause)); };
  SECTION("the session's end") { CHECK((story.close(13, one), lost("session_expired")) == 0); }
  SECTION("a deletion by another") { CHECK((story.remove(13, theirs, a), lost("node_deleted")) == 0); }
  SECTION("never") { CHECK(lost("session_expired") == 1); }
  SECTION("a deletion by its session") { CHECK((story.remove(13, one, a), lost("node_deleted")) == 1); }
  SECTION("the session's end, later") { CHECK((story.close(15, one), lost("session_expired")) == 1); }
  SECTION("a deletion by another, later") { CHECK((story.remove(15, theirs, a), lost("node_deleted")) == 1); }
  SECTION("the validity has passed") {
    story.remove(15, one, a);
    SECTION("with nothing wrong") { CHECK(lost("validity_passed") == 1); }
    SECTION("while the process was stopped") {
      story.fault(12, "client_paused_beyond_timeout", 1).fault(13.9, "client_paused_beyond_timeout", 1, Event::healed);
      CHECK(lost("validity_passed") == 0);
    }
    SECTION("while the link was lost") {
      story.measure("connections", 3, 11).measure("connections", 4, 15);
      CHECK(lost("validity_passed") == 0);
    }
    SECTION("while the machine was late") { CHECK((story.late(13.5, 2, 900), lost("validity_passed")) == 0); }
  }
  SECTION("its client closes the session") { CHECK((story.close(15, one), lost("closed")) == 0); }
  SECTION("the lock was handed off though another had deleted the node before") {
    story.create(12, one, b).remove(13, theirs, a).remove(15, one, b);
    story.audit(12.1, Kind::granted, 1, 12, b).audit(13.1, Kind::lost, 1, 10, a, "node_deleted");
    CHECK(violations(story.audit(15.1, Kind::lost, 1, 12, b, "node_deleted")) == 0);
  }
}

TEST_CASE("I17: what was dropped is counted, and a killed process lacks the last records") {
  Story story = handed_off();
  SECTION("dropped") {
    story.evidence.audit.erase(story.evidence.audit.begin() + 2);
    CHECK(violations(story) > 0);
    story.evidence.audit.push_back({.kind = Kind::dropped, .process = 2, .sequence = 3, .dropped = 1});
    CHECK(violations(story) == 0);
    story.evidence.audit.back().dropped = 2;
    CHECK(violations(story) == 1);
  }
  SECTION("killed") {
    story.evidence.audit.pop_back();
    std::erase_if(story.evidence.users,
                  [](const Record& each) { return each.event == Event::drained && each.process == 2; });
    CHECK(violations(story) == 0);
  }
}

TEST_CASE("I17: metrics and the audit log count the same grants") {
  Story story = handed_off();
  SECTION("another count") {
    story.ends_by_metrics(1, 2);
    CHECK(violations(story) == 1);
  }
  SECTION("no count") {
    std::erase_if(story.evidence.users,
                  [](const Record& each) { return each.event == Event::measured && each.process == 1; });
    CHECK(violations(story) == 1);
  }
}

TEST_CASE("a line of an audit log is read, and half a line is not") {
  const std::string line =
      R"({"@timestamp":"1970-01-01T00:00:10.123456Z","log.level":"info","message":"granted","event.action":"lock.granted",)"
      R"("event.sequence":7,"zklock.client.session":"0xf00000001","zklock.fencing_token":10,"zklock.attempt":3,)"
      R"("zklock.lock.path":"/locks/a","zklock.node":"lock-0000000001","error.type":"session_expired"})";
  const auto record = parse_audit(line, 4);
  REQUIRE(record);
  CHECK(record->kind == Kind::granted);
  CHECK(record->process == 4);
  CHECK(record->at == 10'123'456);
  CHECK(record->sequence == 7);
  CHECK(record->session == 0xf00000001);
  CHECK(record->token == 10);
  CHECK(record->attempt == 3);
  CHECK(record->node == "/locks/a/lock-0000000001");
  CHECK(record->cause == "session_expired");
  CHECK_FALSE(parse_audit(line.substr(0, 60), 4));
}
