// The judge on histories made by hand: each invariant held, and broken.
#include "judge.hpp"

#include "register.hpp"
#include "support/catch.hpp"
#include "transactions.hpp"

#include <filesystem>
#include <fstream>

#include <unistd.h>

using namespace zklock;
using namespace zklock::chaos;

namespace {

constexpr std::int64_t second = 1'000'000;
constexpr std::int64_t one = 11, two = 22, theirs = 99;  // sessions

/// A history under construction; times are seconds, tokens the numbers of the transactions.
class Story {
 public:
  Story() { change(1, theirs, {.kind = Change::Kind::create, .path = "/locks/mutex0"}); }

  Story& create(std::int64_t zxid, std::int64_t session, const std::string& name, const std::string& line = "mutex0") {
    return change(zxid, session,
                  {.kind = Change::Kind::create,
                   .path = "/locks/" + line + "/" + name,
                   .data = "worker-1:1",
                   .is_ephemeral = true});
  }
  Story& remove(std::int64_t zxid, std::int64_t session, const std::string& name, const std::string& line = "mutex0") {
    return change(zxid, session, {.kind = Change::Kind::remove, .path = "/locks/" + line + "/" + name});
  }
  Story& write(std::int64_t zxid, std::int64_t session, const std::string& name, const std::string& data) {
    return change(zxid, session, {.kind = Change::Kind::set_data, .path = "/locks/mutex0/" + name, .data = data});
  }
  Story& mark(std::int64_t zxid, std::int64_t session, const std::string& name, const std::string& line = "mutex0") {
    change(zxid, session, {.kind = Change::Kind::check, .path = "/locks/" + line + "/" + name});
    transactions.back().changes.push_back({.kind = Change::Kind::set_data, .path = "/marks"});
    return *this;
  }
  /// Of the last transaction.
  Story& by_request(std::int32_t number) {
    transactions.back().request = number;
    return *this;
  }
  Story& close(std::int64_t zxid, std::int64_t session) {
    transactions.push_back({.zxid = zxid, .session = session, .at = zxid * second, .closes_session = true});
    return *this;
  }
  Story& user(double at, Event event, int process, std::int64_t token, const std::string& reason = {}) {
    return note(evidence.users, at, event, process, token, reason);
  }
  Story& visit(double at, Event event, int process, std::int64_t token) {
    return note(evidence.visits, at, event, process, token, {});
  }
  Story& fault(double at, const std::string& kind, std::int64_t target, Event event = Event::fault) {
    evidence.faults.push_back({.at = micro(at), .event = event, .session = target, .number = target, .reason = kind});
    return *this;
  }
  Story& measure(const std::string& what, std::int64_t number, double at = 0) {
    evidence.faults.push_back(
        {.at = micro(at), .event = Event::measured, .process = 1, .number = number, .reason = what});
    return *this;
  }
  Evidence& tell() {
    evidence.history = History{transactions};
    evidence.index();
    return evidence;
  }

  std::vector<ServerTransaction> transactions{};
  Evidence evidence{};

 private:
  static std::int64_t micro(double seconds) { return static_cast<std::int64_t>(seconds * second); }
  Story& change(std::int64_t zxid, std::int64_t session, Change change) {
    transactions.push_back({.zxid = zxid, .session = session, .at = zxid * second, .changes = {std::move(change)}});
    return *this;
  }
  Story& note(std::vector<Record>& log, double at, Event event, int process, std::int64_t token,
              const std::string& reason) {
    log.push_back({.at = micro(at),
                   .event = event,
                   .process = process,
                   .operation = token,
                   .lock = "/locks/mutex0",
                   .token = token,
                   .reason = reason});
    return *this;
  }
};

constexpr const char* a = "_c_00000000-0000-0000-0000-00000000000a-lock-0000000000";
constexpr const char* b = "_c_00000000-0000-0000-0000-00000000000b-lock-0000000001";

/// One holds the lock and gives it back, then the other has it.
Story handed_over() {
  Story story;
  story.create(10, one, a).mark(11, one, a).create(12, two, b).remove(13, one, a).mark(14, two, b).remove(15, two, b);
  story.user(9.5, Event::invoked, 1, 10).user(10.1, Event::granted, 1, 10);
  story.user(13.1, Event::released, 1, 10, "ok").user(13.1, Event::finished, 1, 10);
  story.user(11.5, Event::invoked, 2, 12).user(13.2, Event::granted, 2, 12);
  story.user(15.1, Event::released, 2, 12, "ok").user(15.1, Event::finished, 2, 12);
  story.user(20, Event::drained, 1, 0).user(20, Event::drained, 2, 0);
  story.visit(10.2, Event::entered, 1, 10).visit(12.9, Event::left, 1, 10);
  story.visit(13.3, Event::entered, 2, 12).visit(14.9, Event::left, 2, 12);
  return story;
}

/// The session of who holds the lock ends, and the other one has it.
Story taken_away() {
  Story story;
  story.create(10, one, a).create(12, two, b).close(13, one).mark(14, two, b).remove(16, two, b);
  story.user(10.1, Event::granted, 1, 10).user(10.2, Event::listens, 1, 10);
  story.user(13.2, Event::granted, 2, 12).user(16.1, Event::released, 2, 12, "ok");
  story.visit(10.2, Event::entered, 1, 10).visit(13.3, Event::entered, 2, 12);
  return story;
}

}  // namespace

TEST_CASE("the judge finds nothing in a history in which nothing is wrong") {
  Story story = handed_over();
  for (const Invariant& each : invariants()) {
    INFO(each.name);
    CHECK(each.check(story.tell()).empty());
  }
  CHECK(longest_hand_over(story.tell()) == 200);
}

TEST_CASE("I1: a token that is no node, that two have, or that is older than one before it") {
  Story story = handed_over();
  REQUIRE(check_fenced_exclusion(story.tell()).empty());
  SECTION("no node") { story.user(16, Event::granted, 1, 77); }
  SECTION("two holders") {
    story.evidence.users.push_back(story.evidence.users[1]);
    story.evidence.users.back().process = 2;
  }
  SECTION("let in too late") { story.visit(16, Event::entered, 1, 10); }
  SECTION("turned away, and nobody had taken its lock away") { story.visit(16, Event::turned_away, 1, 10); }
  CHECK(check_fenced_exclusion(story.tell()).size() == 1);
}

TEST_CASE("I1: whose session has ended may be turned away") {
  Story story = taken_away();
  story.visit(14, Event::turned_away, 1, 10);
  CHECK(check_fenced_exclusion(story.tell()).empty());
}

TEST_CASE("I2: two inside at once") {
  SECTION("without any excuse") {
    Story story = handed_over();
    story.evidence.visits[1].at = 14 * second;
    std::swap(story.evidence.visits[1], story.evidence.visits[2]);
    CHECK(check_overlaps(story.tell()).size() == 1);
  }
  SECTION("when a session has ended, and nobody was told") { CHECK(check_overlaps(taken_away().tell()).size() == 1); }
  SECTION("when a session has ended and its user was told") {
    Story story = taken_away();
    CHECK(check_overlaps(story.user(13, Event::lost, 1, 10).tell()).empty());
  }
  SECTION("when a session has ended while its user was stopped") {
    Story story = taken_away();
    story.fault(11, "client_paused_beyond_timeout", 1).fault(15, "client_paused_beyond_timeout", 1, Event::healed);
    CHECK(check_overlaps(story.visit(15.2, Event::left, 1, 10).tell()).empty());
  }
  SECTION("when a session has ended while its user was stopped, who then stays") {
    Story story = taken_away();
    story.fault(11, "client_paused_beyond_timeout", 1).fault(15, "client_paused_beyond_timeout", 1, Event::healed);
    CHECK(check_overlaps(story.visit(16, Event::left, 1, 10).tell()).size() == 1);
  }
}

TEST_CASE("I3: a lock held by one who is not first in line") {
  Story story;
  story.create(10, one, a).create(11, two, b);
  SECTION("by a mark") { story.mark(12, two, b); }
  SECTION("by a grant without one") { story.user(11.5, Event::granted, 2, 11).remove(13, two, b); }
  CHECK(check_grants(story.tell()).size() == 1);
}

TEST_CASE("I3: whose node an operator deletes while it waits may hear of a grant first") {
  Story story;
  story.create(10, one, a).create(11, two, b).remove(12, theirs, b).remove(13, one, a);
  story.user(13.1, Event::granted, 2, 11).user(13.2, Event::lost, 2, 11);
  CHECK(check_grants(story.tell()).empty());
}

TEST_CASE("I3: who was first stays so beside the reader of a writer whose node an operator has deleted") {
  const std::string id = "_c_00000000-0000-0000-0000-00000000000";
  const std::string writer = id + "a-__WRIT__0000000000";
  const std::string next = id + "b-__WRIT__0000000001";
  Story story;
  story.create(10, one, writer, "rw0").create(11, two, next, "rw0");
  SECTION("deleted before") {
    story.remove(12, theirs, writer, "rw0")
        .create(13, one, id + "c-__READ__0000000000", "rw0")
        .mark(14, two, next, "rw0");
    CHECK(check_grants(story.tell()).empty());
  }
  SECTION("deleted afterwards") {
    story.create(12, one, id + "c-__READ__0000000000", "rw0")
        .remove(13, theirs, writer, "rw0")
        .mark(14, two, next, "rw0");
    CHECK(check_grants(story.tell()).size() == 1);
  }
}

TEST_CASE("I3: a released sibling keeps nobody out, and a fourth permit of three is one too many") {
  Story story;
  SECTION("siblings") {
    story.create(10, one, a).create(11, one, b).mark(12, one, b);
    story.user(10.1, Event::granted, 1, 10).user(10.2, Event::released, 1, 10, "dropped");
    CHECK(check_grants(story.tell()).empty());
  }
  SECTION("permits") {
    for (int i = 0; i < 4; ++i) {
      CHECK(check_grants(story.tell()).empty());
      const std::string name =
          "_c_00000000-0000-0000-0000-00000000000" + std::to_string(i) + "-lease-000000000" + std::to_string(i);
      story.create(10 + i, one, name, "permits0/leases").mark(20 + i, one, name, "permits0/leases");
    }
    CHECK(check_grants(story.tell()).size() == 1);
  }
}

TEST_CASE("I4: a loss that is not told, or too late, or denied") {
  SECTION("never") { CHECK(check_losses(taken_away().tell()).size() == 1); }
  SECTION("in time") { CHECK(check_losses(taken_away().user(13.2, Event::lost, 1, 10).tell()).empty()); }
  SECTION("too late") { CHECK(check_losses(taken_away().user(14, Event::lost, 1, 10).tell()).size() == 1); }
  SECTION("late, after a pause") {
    Story story = taken_away();
    story.fault(11, "client_paused_beyond_timeout", 1).fault(14, "client_paused_beyond_timeout", 1, Event::healed);
    CHECK(check_losses(story.user(14.2, Event::lost, 1, 10).tell()).empty());
  }
  SECTION("at the end of a long pause") {
    Story story = taken_away();
    story.fault(12.5, "client_paused_beyond_timeout", 1).fault(22.5, "client_paused_beyond_timeout", 1, Event::healed);
    CHECK(check_losses(story.user(22.8, Event::lost, 1, 10).tell()).empty());
  }
  SECTION("killed before") { CHECK(check_losses(taken_away().fault(13, "client_killed", 1).tell()).empty()); }
  SECTION("released all the same") {
    Story story = taken_away();
    story.user(13.1, Event::lost, 1, 10).user(13.5, Event::released, 1, 10, "ok");
    CHECK(check_losses(story.tell()).size() == 1);
  }
}

TEST_CASE("I4: a node that an operator deletes while its owner releases it") {
  Story story;
  story.create(10, one, a).remove(13, two, a);
  story.user(10.1, Event::granted, 1, 10).user(13.5, Event::released, 1, 10, "ok");
  story.visit(11, Event::entered, 1, 10).visit(13.1, Event::left, 1, 10);
  story.measure("connections", 3, 12).measure("connections", 4, 13);
  SECTION("and the link is lost") { CHECK(check_losses(story.measure("connections", 5, 14).tell()).empty()); }
  SECTION("and the link holds") { CHECK(check_losses(story.measure("connections", 4, 14).tell()).size() == 1); }
}

TEST_CASE("I5: one who overtakes another in line") {
  Story story;
  story.create(10, one, a).create(11, two, b).mark(12, two, b).mark(13, one, a);
  CHECK(check_order(story.tell()).size() == 1);
  CHECK(check_order(handed_over().tell()).empty());
}

TEST_CASE("I6: a hand-over that takes too long, a process that does not end, an acquire beyond its limit") {
  Story story = handed_over();
  SECTION("a hand-over") { story.evidence.users[5].at = 16 * second; }
  SECTION("a process") { story.user(21, Event::invoked, 3, 0); }
  SECTION("an acquire") { story.evidence.users[0].limit = 50; }
  CHECK(check_liveness(story.tell()).size() == 1);
}

TEST_CASE("I6: a hand-over may take longer while something is wrong, and of its own pause nobody is guilty") {
  Story story = handed_over();
  story.evidence.users[5].at = 16 * second;
  SECTION("a fault") { story.fault(12, "link_cut", 0); }
  SECTION("a pause") { story.fault(13.1, "client_paused", 2).fault(15.9, "client_paused", 2, Event::healed); }
  CHECK(check_liveness(story.tell()).empty());
}

TEST_CASE("I6: who takes several locks as one has to wait for the last of them") {
  Story story = handed_over();
  std::vector<Record>& users = story.evidence.users;
  users[5].at = 16 * second + second / 2;
  story.create(16, two, b, "mutex1").user(16.5, Event::granted, 2, 16);
  CHECK(check_liveness(story.tell()).size() == 1);
  users.back().operation = users[5].operation;
  CHECK(check_liveness(story.tell()).empty());
}

TEST_CASE("I7: no outcome, two outcomes, a life after the end") {
  Story story = handed_over();
  SECTION("none") { story.user(16, Event::invoked, 1, 50); }
  SECTION("two") {
    story.evidence.users.insert(story.evidence.users.begin() + 2,
                                Record{.event = Event::refused, .process = 1, .operation = 10});
  }
  SECTION("a life after") { story.user(16, Event::granted, 1, 10); }
  CHECK(check_outcomes(story.tell()).size() == 1);
}

TEST_CASE("I8: a node that is left, and two nodes of one attempt") {
  Story story = handed_over();
  SECTION("left") { story.create(30, one, "_c_00000000-0000-0000-0000-00000000000c-lock-0000000002"); }
  SECTION("left by the servers' own word") { story.measure("zk_ephemerals_count", 1); }
  SECTION("two") {
    story.create(30, one, a).create(31, one, "_c_00000000-0000-0000-0000-00000000000a-lock-0000000003").close(32, one);
  }
  CHECK(check_nodes(story.tell()).size() == 1);
}

TEST_CASE("I8: two nodes of one attempt, where the servers have turned its creates round") {
  Story story = handed_over();
  const bool turned_round = GENERATE(true, false);
  story.create(30, one, a).by_request(turned_round ? 8 : 7);
  story.create(31, one, "_c_00000000-0000-0000-0000-00000000000a-lock-0000000003").by_request(turned_round ? 7 : 8);
  story.close(32, one);
  CHECK(check_nodes(story.tell()).size() == (turned_round ? 0 : 1));
}

TEST_CASE("I9: a node deleted by another than its owner, unless that is an operator") {
  Story story;
  story.create(10, one, a).remove(11, two, a);
  CHECK(check_deleters(story.tell()).size() == 1);
  CHECK(check_deleters(story.fault(10.5, "node_deleted", two).tell()).empty());
}

TEST_CASE("I8, I10: what is left is what most servers have") {
  Story story = handed_over();
  story.measure("zk_ephemerals_count", 7).measure("zk_ephemerals_count", 0).measure("zk_ephemerals_count", 0);
  CHECK(check_nodes(story.tell()).empty());
  story.measure("zk_ephemerals_count", 7).measure("zk_ephemerals_count", 7);
  CHECK(check_nodes(story.tell()).size() == 1);
}

TEST_CASE("I10: a watch that is left") {
  CHECK(check_watches(handed_over().measure("zk_watch_count", 1).tell()).size() == 1);
}

TEST_CASE("I11: data that are not a client and a count, or another client's") {
  Story story;
  story.create(10, one, a).write(11, one, a, "worker-1:2");
  CHECK(check_node_data(story.tell()).empty());
  SECTION("no count") { story.write(12, one, a, "worker-1:0"); }
  SECTION("another client") { story.write(12, one, a, "worker-2:1"); }
  SECTION("another session") { story.write(12, two, a, "worker-1:3"); }
  CHECK(check_node_data(story.tell()).size() == 1);
}

TEST_CASE("I12, I14, I15: descriptors that grow, a host that changes, an I/O thread that is busy") {
  Story story = handed_over();
  const auto measured = [&](const char* what, std::int64_t number) {
    story.evidence.users.push_back({.event = Event::measured, .process = 1, .number = number, .reason = what});
  };
  measured("descriptors", 10);
  measured("descriptors", 30);
  measured("changes_of_the_host", 1);
  for (const std::int64_t at : {30, 31, 32, 33})
    story.evidence.users.push_back({.at = at * second, .event = Event::stalled, .process = 1, .number = 80});
  CHECK(check_resources(story.tell()).size() == 1);
  CHECK(check_isolation(story.tell()).size() == 1);
  CHECK(check_loop(story.tell()).size() == 4);
  SECTION("stopped") { story.fault(29, "client_paused", 1).fault(33, "client_paused", 1, Event::healed); }
  SECTION("on a machine that is late") {
    story.evidence.users.push_back({.at = 31 * second, .event = Event::late, .process = 2, .number = 60});
  }
  SECTION("with others, as the machine") {
    story.evidence.users.push_back({.at = 30 * second, .event = Event::stalled, .process = 2, .number = 80});
  }
  CHECK(check_loop(story.tell()).empty());
}

TEST_CASE("I13: connections without end, and requests without end") {
  Story story = handed_over();
  SECTION("connections") { story.measure("connections", 0, 1).measure("connections", 1'000, 2); }
  SECTION("requests") { story.measure("requests", 1'000); }
  CHECK(check_retries(story.tell()).size() == 1);
}

TEST_CASE("what a leader wrote alone before its end is no history, what a server missed is") {
  const auto log = [](std::initializer_list<std::int64_t> zxids) {
    std::vector<ServerTransaction> all;
    for (const std::int64_t zxid : zxids) all.push_back({.zxid = zxid});
    return all;
  };
  constexpr std::int64_t next = std::int64_t{2} << 32;
  const auto merged = merge_committed({log({1, 2, 3, 4, 5}), log({1, 2, 3, next, next + 1}), log({1, next, next + 1})});
  std::vector<std::int64_t> zxids;
  for (const ServerTransaction& each : merged) zxids.push_back(each.zxid);
  CHECK(zxids == std::vector<std::int64_t>{1, 2, 3, next, next + 1});
  CHECK(merge_committed({log({1, 2})}).size() == 2);
}

TEST_CASE("the register refuses a token that is older than one before it, but readers may come in any order") {
  TokenRegister tokens;
  CHECK(tokens.accept(10, Share::alone));
  CHECK(tokens.accept(12, Share::with_readers));
  CHECK(tokens.accept(11, Share::with_readers));
  CHECK_FALSE(tokens.accept(11, Share::alone));
  CHECK(tokens.accept(13, Share::alone));
  CHECK_FALSE(tokens.accept(12, Share::with_readers));
  CHECK(tokens.accept(1, Share::permit));
}

TEST_CASE("a record is read as it was written, and half a line is none") {
  const Record record{.at = 1,
                      .event = Event::turned_away,
                      .process = 2,
                      .operation = 3,
                      .lock = "/l",
                      .token = 4,
                      .session = 5,
                      .number = -6,
                      .limit = 7,
                      .reason = "why"};
  CHECK(parse_line(to_line(record)) == record);
  CHECK(parse_line(to_line(Record{})) == Record{});
  CHECK_FALSE(parse_line("17 granted 1 2"));
}
