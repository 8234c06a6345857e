// What the lines of an audit log look like.
#include "error_names.hpp"
#include "support/audit_lines.hpp"
#include "support/catch.hpp"
#include "support/enumerators.hpp"

#include <zklock/recipes/locks/lock_error.hpp>

#include <boost/asio/error.hpp>

#include <random>
#include <regex>

using namespace zklock;
using namespace std::chrono_literals;
using zklock::test::LineSink;

namespace {

/// The lines of an audit log that is told of this.
std::vector<std::string> written(AuditOptions options, const std::function<void(AuditLog&)>& tell) {
  const auto sink = std::make_shared<LineSink>();
  options.sinks.push_back(sink);
  if (options.host_name.empty()) options.host_name = "host-1";
  {
    AuditLog log{std::move(options)};
    tell(log);
  }
  return sink->lines();
}

std::string line_of(const LockEvent& event, AuditOptions options = {}) {
  const auto lines = written(std::move(options), [&](AuditLog& log) { log.on_lock(event); });
  REQUIRE(lines.size() == 1);
  return lines[0];
}

test::json::object record_of(const LockEvent& event, AuditOptions options = {}) {
  return test::json::parse(line_of(event, std::move(options))).as_object();
}

test::json::value as_value(std::string_view text) { return test::json::value(text); }

/// The line with the time and the process replaced by T and P.
std::string without_chance(const std::string& line) {
  const std::string timed = std::regex_replace(line, std::regex{R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)"}, "T");
  return std::regex_replace(timed, std::regex{R"((process.pid"?[:=])\d+)"}, "$1P");
}

const LockEvent granted{.phase = LockPhase::granted,
                        .kind = LockKind::mutex,
                        .attempt = 7,
                        .client_id = "host-1-ab34",
                        .path = "/locks/a",
                        .session_id = 0x1000a2b,
                        .owner = 3,
                        .node_path = "/locks/a/_c_1-lock-0000000041",
                        .fencing_token = 4'294'967'298,
                        .waited = 3'100us};

const AuditOptions logfmt{.format = AuditFormat::logfmt};

}  // namespace

TEST_CASE("a record of the audit log has ECS's names, and its own where ECS has none") {
  CHECK(without_chance(line_of(granted, {.service_name = "shop"})) ==
        R"({"@timestamp":"T","log.level":"info","message":"granted mutex /locks/a after 3.1 ms",)"
        R"("ecs.version":"8.11.0","event.dataset":"zklock.audit","event.action":"lock.granted",)"
        R"("event.outcome":"success","event.duration":3100000,"event.sequence":1,)"
        R"("service.name":"shop","host.name":"host-1","process.pid":P,)"
        R"("zklock.lock.path":"/locks/a","zklock.lock.kind":"mutex","zklock.client.id":"host-1-ab34",)"
        R"("zklock.client.owner":3,"zklock.client.session":"0x1000a2b","zklock.fencing_token":4294967298,)"
        R"("zklock.node":"_c_1-lock-0000000041","zklock.wait_s":0.003100,"zklock.attempt":7})"
        "\n");
}

TEST_CASE("logfmt has the same keys, and quotes where they are needed") {
  CHECK(without_chance(line_of(granted, logfmt)) ==
        R"(@timestamp=T log.level=info message="granted mutex /locks/a after 3.1 ms" ecs.version=8.11.0 )"
        R"(event.dataset=zklock.audit event.action=lock.granted event.outcome=success event.duration=3100000 )"
        R"(event.sequence=1 host.name=host-1 process.pid=P zklock.lock.path=/locks/a zklock.lock.kind=mutex )"
        R"(zklock.client.id=host-1-ab34 zklock.client.owner=3 zklock.client.session=0x1000a2b )"
        R"(zklock.fencing_token=4294967298 zklock.node=_c_1-lock-0000000041 zklock.wait_s=0.003100 zklock.attempt=7)"
        "\n");
}

TEST_CASE("what is unknown is left out of a record") {
  const auto record = record_of({.phase = LockPhase::cancelled, .path = "/locks/a"});
  for (const char* key : {"event.duration", "zklock.client.id", "zklock.client.owner", "zklock.client.session",
                          "zklock.fencing_token", "zklock.node", "zklock.ahead", "zklock.count", "zklock.wait_s",
                          "zklock.hold_s", "zklock.attempt", "error.code", "error.type", "service.name"}) {
    INFO(key);
    CHECK_FALSE(record.contains(key));
  }
}

TEST_CASE("a loss says why, and how long the lock was held") {
  LockEvent lost = granted;
  lost.phase = LockPhase::lost;
  lost.waited.reset();
  lost.held = 90s;
  struct Case {
    std::string_view cause;
    int code;
  };
  for (const auto& [cause, code] : {Case{"session_expired", -112}, Case{"auth_failed", -115}, Case{"closed", 7},
                                    Case{"validity_passed", 2}, Case{"node_deleted", 2}, Case{"max_hold_passed", 2}}) {
    lost.cause = cause;
    const auto record = record_of(lost);
    INFO(cause);
    CHECK(record.at("log.level") == "warn");
    CHECK(record.at("event.action") == "lock.lost");
    CHECK(record.at("event.outcome") == "failure");
    CHECK(record.at("event.duration") == 90'000'000'000);
    CHECK(record.at("zklock.hold_s") == 90.0);
    CHECK(record.at("error.type") == as_value(cause));
    CHECK(record.at("error.code") == code);
    CHECK(record.at("message") == as_value("lost mutex /locks/a after 90.0 s: " + std::string{cause}));
  }
}

TEST_CASE("an attempt that fails with an ambiguous error has an unknown outcome") {
  struct Case {
    error_code error;
    std::string outcome;
    std::string type;
  };
  for (const auto& [error, outcome, type] :
       {Case{Error::connection_loss, "unknown", "connection_loss"}, Case{Error::no_auth, "failure", "no_auth"},
        Case{LockError::sequence_exhausted, "failure", "sequence_exhausted"},
        Case{make_error_code(boost::asio::error::eof), "unknown", "asio.misc"}}) {
    const auto record = record_of({.phase = LockPhase::failed, .path = "/locks/a", .waited = 2s, .error = error});
    INFO(type);
    CHECK(record.at("log.level") == "warn");
    CHECK(record.at("event.outcome") == as_value(outcome));
    CHECK(record.at("error.type") == as_value(type));
    CHECK(record.at("error.code") == error.value());
    CHECK(record.at("error.message") == as_value(error.message()));
  }
}

TEST_CASE("a slow wait names the client that blocks it") {
  const LockHolder holder{
      .client_id = "host-12", .session_id = 0x2b, .node_path = "/locks/a/lock-0000000001", .age = 63s};
  LockEvent slow{.phase = LockPhase::slow, .kind = LockKind::write, .path = "/locks/a", .waited = 5s};
  slow.ahead = 3;
  slow.holder = &holder;
  const auto record = record_of(slow);
  CHECK(record.at("message") ==
        "still waiting for write /locks/a after 5.0 s; 3 ahead; held by host-12, session 0x2b, for 63 s");
  CHECK(record.at("log.level") == "warn");
  CHECK(record.at("event.outcome") == "unknown");
  CHECK(record.at("zklock.ahead") == 3);
  CHECK(record.at("zklock.holder.id") == "host-12");
  CHECK(record.at("zklock.holder.session") == "0x2b");
  CHECK(record.at("zklock.holder.node") == "lock-0000000001");
  CHECK(record.at("zklock.holder.age_s") == 63.0);
}

TEST_CASE("a request to revoke is recorded with the one who asks") {
  RevokeEvent asked{
      .asked_by = "zklock revoke", .user_name = "alice", .node_path = "/locks/a/lock-0000000001", .fencing_token = 12};
  const auto one = [&asked] {
    return test::json::parse(written({}, [&](AuditLog& log) { log.on_revoke(asked); }).at(0)).as_object();
  };
  auto record = one();
  CHECK(record.at("event.action") == "lock.revoke");
  CHECK(record.at("event.outcome") == "success");
  CHECK(record.at("zklock.asked_by") == "zklock revoke");
  CHECK(record.at("user.name") == "alice");
  CHECK(record.at("zklock.lock.path") == "/locks/a");
  CHECK(record.at("zklock.node") == "lock-0000000001");
  CHECK(record.at("zklock.fencing_token") == 12);
  asked.error = Error::connection_loss;
  record = one();
  CHECK(record.at("event.outcome") == "unknown");
  CHECK(record.at("log.level") == "warn");
  CHECK(record.at("error.type") == "connection_loss");
  asked.error = {};
  asked.refusal = "it is gone";
  CHECK(one().at("event.outcome") == "failure");
}

namespace {

std::vector<std::string> lines_of_node(const NodeState& before, const NodeState& state) {
  return written({}, [&](AuditLog& log) {
    NodeEvent event;
    event.client_id = "host-1-ab34";
    event.path = "/services/a";
    event.node_path = "/services/a";
    event.session_id = 0x1000a2b;
    event.before = before;
    event.state = state;
    log.on_node(event);
  });
}

test::json::object record_of_node(const NodeState& before, const NodeState& state) {
  const auto lines = lines_of_node(before, state);
  REQUIRE(lines.size() == 1);
  return test::json::parse(lines[0]).as_object();
}

}  // namespace

TEST_CASE("a kept node is recorded when it is there, lost, taken or failing, and at its end") {
  const NodeState absent{};
  const NodeState there{.phase = NodePhase::present, .czxid = 17};
  const auto present = record_of_node(absent, there);
  CHECK(present.at("event.action") == "node.present");
  CHECK(present.at("event.outcome") == "success");
  CHECK(present.at("log.level") == "info");
  CHECK(present.at("message") == "keeps the node of /services/a");
  CHECK(present.at("zklock.path") == "/services/a");
  CHECK(present.at("zklock.node") == "a");
  CHECK(present.at("zklock.client.id") == "host-1-ab34");
  CHECK(present.at("zklock.client.session") == "0x1000a2b");
  CHECK(present.at("zklock.czxid") == 17);
  CHECK_FALSE(present.contains("zklock.lock.path"));

  const auto lost = record_of_node(there, absent);
  CHECK(lost.at("event.action") == "node.absent");
  CHECK(lost.at("event.outcome") == "failure");
  CHECK(lost.at("log.level") == "warn");
  CHECK(record_of_node(there, {.phase = NodePhase::present, .czxid = 23}).at("event.action") == "node.present");

  const auto taken = record_of_node(absent, {.phase = NodePhase::taken, .owner = 0x1000b});
  CHECK(taken.at("event.action") == "node.taken");
  CHECK(taken.at("zklock.holder.session") == "0x1000b");

  const auto failing = record_of_node(absent, {.phase = NodePhase::failing, .error = make_error_code(Error::no_auth)});
  CHECK(failing.at("event.outcome") == "failure");
  CHECK(failing.at("error.type") == "no_auth");

  CHECK(record_of_node(there, {.phase = NodePhase::ended}).at("event.outcome") == "success");
  const NodeState with_client{.phase = NodePhase::ended, .error = make_error_code(Error::closed)};
  CHECK(record_of_node(there, with_client).at("event.outcome") == "success");
  const NodeState given_up{.phase = NodePhase::ended, .error = make_error_code(Error::name_taken)};
  CHECK(record_of_node(absent, given_up).at("event.outcome") == "failure");
}

TEST_CASE("a kept node whose link was lost for a moment is not recorded anew") {
  const NodeState there{.phase = NodePhase::present, .czxid = 17};
  const NodeState suspect{.phase = NodePhase::suspect, .czxid = 17};
  CHECK(lines_of_node(NodeState{}, NodeState{}).empty());
  CHECK(lines_of_node(there, suspect).empty());
  CHECK(lines_of_node(suspect, there).empty());
  CHECK(lines_of_node(suspect, NodeState{}).size() == 1);
}

TEST_CASE("each phase that is to be recorded is, and no other one") {
  const auto story = [](AuditOptions options) {
    return test::AuditLines{written(std::move(options),
                                    [](AuditLog& log) {
                                      for (int phase = 0; phase <= static_cast<int>(LockPhase::lost); ++phase)
                                        log.on_lock({.phase = static_cast<LockPhase>(phase), .path = "/a"});
                                    })}
        .story();
  };
  CHECK(story({}) == "granted timed_out cancelled failed slow revocation_requested released lost");
  CHECK(story({.records_waiting = true, .records_reentered = true}) ==
        "granted reentered timed_out cancelled failed waiting slow revocation_requested released lost");
}

TEST_CASE("whatever other programs write, a record stays one line that is read as it was meant") {
  const std::vector<std::string> hostile{"a\",\"event.outcome\":\"success",
                                         "a\nb\r\n{}",
                                         "\\",
                                         "\\\"",
                                         "a b=c",
                                         "",
                                         std::string{"nul\0in it", 9},
                                         "\x1b[2J\x7f",
                                         "\u202e\u2066gnihtemos\u200b",
                                         "caf\u00e9 \U0001F512 \u2028"};
  const std::regex ascii{"[ -~]*\n"};
  for (const std::string& text : hostile) {
    LockEvent event = granted;
    event.client_id = text;
    event.path = text;
    const std::string line = line_of(event);
    const auto record = test::json::parse(line).as_object();
    CHECK(std::regex_match(line, ascii));
    CHECK(record.at("event.outcome") == "success");
    if (!text.empty()) CHECK(record.at("zklock.client.id") == as_value(text));
    CHECK(record.at("message") == as_value("granted mutex " + text + " after 3.1 ms"));
    const std::string other = line_of(event, logfmt);
    auto fields = test::parse_logfmt(other);
    CHECK(std::regex_match(other, ascii));
    CHECK(fields["event.outcome"] == "success");
    CHECK(fields["zklock.client.id"] == text);
    CHECK(fields["zklock.attempt"] == "7");
  }
}

TEST_CASE("bytes that are not UTF-8 become replacement characters") {
  const auto id = [](std::string_view text) {
    LockEvent event = granted;
    event.client_id = text;
    return std::string{record_of(event).at("zklock.client.id").as_string()};
  };
  const std::string mark = "\ufffd";
  CHECK(id("a\xff") == "a" + mark);
  CHECK(id("\xc0\xaf") == mark + mark);                        // overlong
  CHECK(id("\xe0\x80\x80") == mark + mark + mark);             // overlong
  CHECK(id("\xed\xa0\x80") == mark + mark + mark);             // half of a surrogate pair
  CHECK(id("\xf4\x90\x80\x80") == mark + mark + mark + mark);  // above U+10FFFF
  CHECK(id("\xe2\x82") == mark + mark);                        // cut off
  CHECK(id("\xe2\x82z") == mark + mark + "z");
}

TEST_CASE("random bytes in each text give lines that are read back") {
  std::mt19937 random{20};
  const auto lines = written({.queue_size = 4'000}, [&](AuditLog& log) {
    for (int i = 0; i < 2'000; ++i) {
      std::string text(random() % 40, ' ');
      for (char& each : text) each = static_cast<char>(random());
      LockEvent event = granted;
      event.phase = i % 2 == 0 ? LockPhase::granted : LockPhase::slow;
      event.client_id = event.path = event.node_path = event.cause = text;
      const LockHolder holder{.client_id = text, .session_id = 1, .node_path = text, .age = 1s};
      event.holder = &holder;
      log.on_lock(event);
    }
  });
  CHECK(test::AuditLines{lines}.all().size() == 2'000);
}

TEST_CASE("each error has its name in the audit log") {
  const auto names = test::names_of_enumerators<Error>();
  const auto lock_names = test::names_of_enumerators<LockError>();
  std::set<std::string_view> given;
  std::set<std::string_view> given_to_locks;
  for (int number = test::lowest_value; number <= test::highest_value; ++number) {
    given.insert(detail::error_name(static_cast<Error>(number)));
    given_to_locks.insert(detail::error_name(static_cast<LockError>(number)));
  }
  given.erase("zklock");
  given_to_locks.erase("zklock.lock");
  CHECK(given == names);
  CHECK(given_to_locks == lock_names);
}
