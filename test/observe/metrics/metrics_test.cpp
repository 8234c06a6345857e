// What each event does to the metrics.
#include "support/catch.hpp"
#include "support/exposition.hpp"

#include <zklock/metrics/metrics.hpp>
#include <zklock/testing/manual_clock.hpp>

#include <cmath>
#include <ctime>

using namespace zklock;
using namespace zklock::metrics;
using namespace zklock::test;
using namespace std::chrono_literals;

namespace {

/// Feeds Metrics by hand. Time stands still unless a test moves it.
struct Fixture {
  testing::ManualClock clock{};
  Metrics metrics{};

  [[nodiscard]] Exposition scrape() const { return Exposition{metrics.text()}; }

  void lock(LockPhase phase, std::uint64_t attempt, LockEvent more = {}) {
    more.phase = phase;
    more.attempt = attempt;
    if (more.path.empty()) more.path = "/locks/a";
    metrics.on_lock(more);
  }
  void grant(std::uint64_t attempt, std::int64_t token = 7) {
    lock(LockPhase::asked, attempt);
    lock(LockPhase::enqueued, attempt);
    lock(LockPhase::granted, attempt, {.fencing_token = token, .waited = 20ms});
  }
  void request(RequestPhase phase, std::string_view operation, error_code error = {}) {
    RequestEvent event;
    event.phase = phase;
    event.operation = operation;
    event.error = error;
    event.took = 3ms;
    metrics.on_request(event);
  }
  void state(ConnectionState from, ConnectionState to) { metrics.on_state({.from = from, .to = to}); }
  void health(std::uint64_t client, const ClientHealth& health, std::size_t watches = 0) {
    metrics.on_health({.client_number = client, .health = &health, .watches = watches});
  }
};

std::string acquisitions(const std::string& outcome, const std::string& kind = "mutex") {
  return "zklock_acquisitions_total{lock=\"/locks/a\",kind=\"" + kind + "\",outcome=\"" + outcome + "\"}";
}

const std::string wait_count = "zklock_acquire_wait_seconds_count{lock=\"/locks/a\",kind=\"mutex\"}";
const std::string waiters = "zklock_waiters{lock=\"/locks/a\",kind=\"mutex\"}";
const std::string holders = "zklock_holders{lock=\"/locks/a\",kind=\"mutex\"}";
const std::string hold_count = "zklock_hold_seconds_count{lock=\"/locks/a\",kind=\"mutex\"}";
const std::string oldest_waiter = "zklock_oldest_waiter_timestamp_seconds{lock=\"/locks/a\"}";
const std::string oldest_holder = "zklock_oldest_holder_timestamp_seconds{lock=\"/locks/a\"}";

}  // namespace

TEST_CASE_METHOD(Fixture, "each end of an attempt is counted by its outcome, and the others are 0") {
  const std::vector<std::pair<LockPhase, std::string>> ends{
      {LockPhase::granted, "granted"},     {LockPhase::reentered, "reentered"}, {LockPhase::timed_out, "timed_out"},
      {LockPhase::cancelled, "cancelled"}, {LockPhase::refused, "refused"},     {LockPhase::failed, "failed"}};
  std::uint64_t attempt = 0;
  for (const auto& [phase, name] : ends) {
    lock(LockPhase::asked, ++attempt);
    CHECK(scrape()[waiters] == 1);
    CHECK(scrape()[acquisitions(name)] == 0);
    lock(phase, attempt, {.waited = 1ms});
    CHECK(scrape()[waiters] == 0);
    CHECK(scrape()[acquisitions(name)] == 1);
    CHECK(scrape().sum("zklock_acquisitions_total") == static_cast<double>(attempt));
  }
}

TEST_CASE_METHOD(Fixture, "only attempts that were in the queue, or had no need of it, are in the histogram of waits") {
  lock(LockPhase::asked, 1);
  lock(LockPhase::refused, 1, {.waited = 0ms});
  CHECK(scrape()[wait_count] == 0);
  lock(LockPhase::asked, 2);
  lock(LockPhase::waiting, 2);
  lock(LockPhase::timed_out, 2, {.waited = 2s});
  CHECK(scrape()[wait_count] == 1);
  lock(LockPhase::asked, 3);
  lock(LockPhase::granted, 3, {.waited = 1ms});
  const Exposition seen = scrape();
  const std::string bucket = "zklock_acquire_wait_seconds_bucket{lock=\"/locks/a\",kind=\"mutex\",le=";
  CHECK(seen[bucket + "\"0.001\"}"] == 1);  // a bound belongs to its bucket
  CHECK(seen[bucket + "\"1\"}"] == 1);
  CHECK(seen[bucket + "\"2.5\"}"] == 2);
  CHECK(seen[bucket + "\"+Inf\"}"] == 2);
  CHECK(seen["zklock_acquire_wait_seconds_sum{lock=\"/locks/a\",kind=\"mutex\"}"] == Catch::Approx(2.001));
}

TEST_CASE_METHOD(Fixture, "a plain re-entry is counted, and is no wait") {
  grant(1);
  lock(LockPhase::reentered, 1, {.count = 2});
  CHECK(scrape()[acquisitions("reentered")] == 1);
  CHECK(scrape()[wait_count] == 1);
  CHECK(scrape()[holders] == 1);
}

TEST_CASE_METHOD(Fixture, "each permit of an attempt is held, and the attempt is counted once") {
  for (const std::int64_t token : {5, 6}) {
    if (token == 5) lock(LockPhase::asked, 1, {.kind = LockKind::permit});
    lock(LockPhase::granted, 1, {.kind = LockKind::permit, .fencing_token = token, .waited = 1ms});
  }
  CHECK(scrape()[acquisitions("granted", "permit")] == 1);
  CHECK(scrape()["zklock_holders{lock=\"/locks/a\",kind=\"permit\"}"] == 2);
  lock(LockPhase::released, 1, {.kind = LockKind::permit, .fencing_token = 5, .held = 1s});
  CHECK(scrape()["zklock_holders{lock=\"/locks/a\",kind=\"permit\"}"] == 1);
  CHECK(scrape()["zklock_leases{state=\"held\"}"] == 1);
}

TEST_CASE_METHOD(Fixture, "a lease is held, suspect, held again, and lost with its cause") {
  grant(1);
  CHECK(metrics.leases().held == 1);
  lock(LockPhase::suspect, 1, {.fencing_token = 7});
  CHECK(scrape()["zklock_leases{state=\"held\"}"] == 0);
  CHECK(scrape()["zklock_leases{state=\"suspect\"}"] == 1);
  lock(LockPhase::held_again, 1, {.fencing_token = 7});
  CHECK(scrape()["zklock_leases{state=\"suspect\"}"] == 0);
  lock(LockPhase::suspect, 1, {.fencing_token = 7});
  for (const std::string cause :
       {"session_expired", "validity_passed", "node_deleted", "max_hold_passed", "auth_failed", "closed"})
    CHECK(scrape()["zklock_leases_lost_total{lock=\"/locks/a\",cause=\"" + cause + "\"}"] == 0);
  lock(LockPhase::lost, 1, {.fencing_token = 7, .held = 4s, .cause = "node_deleted"});
  const Exposition seen = scrape();
  CHECK(seen["zklock_leases_lost_total{lock=\"/locks/a\",cause=\"node_deleted\"}"] == 1);
  CHECK(seen.sum("zklock_leases_lost_total") == 1);
  CHECK(seen.sum("zklock_leases{") == 0);
  CHECK(seen[hold_count] == 1);
  CHECK(seen["zklock_hold_seconds_sum{lock=\"/locks/a\",kind=\"mutex\"}"] == 4);
}

TEST_CASE_METHOD(Fixture, "the oldest waiter and holder are Unix times, and absent when there is none") {
  CHECK(scrape().count("zklock_oldest_") == 0);
  lock(LockPhase::asked, 1);
  clock.advance(100s);
  lock(LockPhase::asked, 2);
  CHECK_FALSE(scrape()[oldest_holder]);
  CHECK(std::abs(scrape()[oldest_waiter].value() - (static_cast<double>(std::time(nullptr)) - 100)) < 5);
  lock(LockPhase::granted, 1, {.fencing_token = 7, .waited = 100s});
  clock.advance(50s);
  CHECK(std::abs(scrape()[oldest_waiter].value() - (static_cast<double>(std::time(nullptr)) - 50)) < 5);
  CHECK(std::abs(scrape()[oldest_holder].value() - (static_cast<double>(std::time(nullptr)) - 50)) < 5);
  lock(LockPhase::timed_out, 2, {.waited = 50s});
  lock(LockPhase::released, 1, {.fencing_token = 7, .held = 50s});
  CHECK(scrape().count("zklock_oldest_") == 0);
}

TEST_CASE_METHOD(Fixture, "requests to release a lock and slow waits are counted") {
  grant(1);
  lock(LockPhase::revocation_requested, 1);
  lock(LockPhase::slow, 2);
  lock(LockPhase::slow, 2);
  CHECK(scrape()["zklock_revocations_total{lock=\"/locks/a\"}"] == 1);
  CHECK(scrape()["zklock_slow_waits_total{lock=\"/locks/a\"}"] == 2);
}

TEST_CASE_METHOD(Fixture, "requests are counted by operation and result, known operations from the start") {
  CHECK(scrape()["zklock_requests_total{operation=\"create\",result=\"ambiguous\"}"] == 0);
  request(RequestPhase::begun, "create");
  CHECK(scrape()["zklock_requests_in_flight"] == 1);
  request(RequestPhase::ended, "create", Error::connection_loss);
  request(RequestPhase::begun, "create");
  request(RequestPhase::ended, "create", Error::node_exists);
  request(RequestPhase::begun, "create");
  request(RequestPhase::ended, "create");
  const Exposition seen = scrape();
  CHECK(seen["zklock_requests_in_flight"] == 0);
  for (const std::string result : {"ok", "definite", "ambiguous"})
    CHECK(seen["zklock_requests_total{operation=\"create\",result=\"" + result + "\"}"] == 1);
  CHECK(seen["zklock_request_seconds_count{operation=\"create\"}"] == 3);
  CHECK(seen["zklock_request_seconds_bucket{operation=\"create\",le=\"0.0025\"}"] == 0);
  CHECK(seen["zklock_request_seconds_bucket{operation=\"create\",le=\"0.005\"}"] == 3);
  metrics.on_retry({});
  CHECK(scrape()["zklock_retries_total"] == 1);
}

TEST_CASE_METHOD(Fixture, "sessions, their ends and lost links are counted") {
  using enum ConnectionState;
  state(connecting, connected);
  state(connected, suspended);
  state(suspended, reconnected);
  CHECK(scrape()["zklock_sessions_total"] == 1);
  state(reconnected, lost);
  state(lost, reconnected);
  CHECK(scrape()["zklock_sessions_total"] == 2);
  CHECK(scrape()["zklock_sessions_lost_total"] == 1);
  CHECK(scrape()["zklock_suspensions_total"] == 1);
}

TEST_CASE_METHOD(Fixture,
                 "the state of each client, the oldest contact and the validity nearest to its end are shown") {
  CHECK(scrape().count("zklock_client_state") == 7);
  CHECK(scrape().sum("zklock_client_state") == 0);
  for (const std::string absent :
       {"zklock_last_contact_timestamp_seconds", "zklock_session_timeout_seconds", "zklock_lease_validity_seconds"})
    CHECK_FALSE(scrape()[absent]);
  const auto now = Clock::now();
  ClientHealth one{.state = ConnectionState::connected,
                   .sessions = {{.timeout = 30s, .last_contact = now - 3s, .valid_until = now + 9s},
                                {.timeout = 30s, .last_contact = now - 1s, .valid_until = now + 20s}}};
  const ClientHealth other{.state = ConnectionState::suspended, .sessions = {{.timeout = 10s, .last_contact = now}}};
  health(1, one, 4);
  health(2, other, 3);
  CHECK(scrape()["zklock_client_state{state=\"connected\"}"] == 1);
  CHECK(scrape()["zklock_client_state{state=\"suspended\"}"] == 1);
  CHECK(scrape()["zklock_client_state{state=\"lost\"}"] == 0);
  CHECK(scrape()["zklock_session_timeout_seconds"] == 10);
  CHECK(scrape()["zklock_watches"] == 7);
  CHECK(std::abs(scrape()["zklock_last_contact_timestamp_seconds"].value() -
                 (static_cast<double>(std::time(nullptr)) - 3)) < 2);
  CHECK_FALSE(scrape()["zklock_lease_validity_seconds"]);  // no lease is held
  grant(1);
  CHECK(scrape()["zklock_lease_validity_seconds"] == 9);
  CHECK(scrape()["zklock_session_timeout_seconds"] == 30);
  // What has less time left, but a greater share of its timeout, does not hide it.
  health(2, {.state = ConnectionState::connected, .sessions = {{.timeout = 6s, .valid_until = now + 3s}}}, 3);
  CHECK(scrape()["zklock_lease_validity_seconds"] == 9);
  CHECK(scrape()["zklock_session_timeout_seconds"] == 30);
  clock.advance(10s);
  CHECK(scrape()["zklock_lease_validity_seconds"] == 0);
  one.state = ConnectionState::closed;
  health(1, one);
  CHECK(scrape().sum("zklock_client_state") == 1);
  CHECK(scrape()["zklock_watches"] == 3);
}

TEST_CASE_METHOD(Fixture, "deletes that are still to be done are shown until they are done") {
  CHECK(scrape()["zklock_cleanups_pending"] == 0);
  CHECK_FALSE(scrape()["zklock_oldest_cleanup_timestamp_seconds"]);
  metrics.on_cleanup({.phase = CleanupPhase::pending, .number = 3});
  CHECK(scrape()["zklock_cleanups_pending"] == 1);
  CHECK(metrics.cleanups_pending() == 1);
  CHECK(scrape()["zklock_oldest_cleanup_timestamp_seconds"].value() > 1e9);
  metrics.on_cleanup({.phase = CleanupPhase::done, .number = 3});
  CHECK(scrape()["zklock_cleanups_pending"] == 0);
  CHECK_FALSE(scrape()["zklock_oldest_cleanup_timestamp_seconds"]);
}

TEST_CASE_METHOD(Fixture, "the delays of the I/O are counted, but not those of reports that a state has caused") {
  const ClientHealth connected{.state = ConnectionState::connected};
  health(1, connected);
  CHECK(scrape()["zklock_io_delay_seconds_count"] == 0);
  metrics.on_health({.client_number = 1, .health = &connected, .io_delay = 200ms});
  CHECK(scrape()["zklock_io_delay_seconds_count"] == 1);
  CHECK(scrape()["zklock_io_delay_seconds_bucket{le=\"0.1\"}"] == 0);
  CHECK(scrape()["zklock_io_delay_seconds_bucket{le=\"1\"}"] == 1);
}

TEST_CASE_METHOD(Fixture, "kept nodes are counted by state, and each change of it") {
  const auto node = [&](NodePhase before, NodePhase phase) {
    NodeEvent event;
    event.number = 1;
    event.before.phase = before;
    event.state.phase = phase;
    metrics.on_node(event);
  };
  const auto now = [&](const std::string& state) { return scrape()["zklock_kept_nodes{state=\"" + state + "\"}"]; };
  const auto changes = [&](const std::string& state) {
    return scrape()["zklock_kept_nodes_changes_total{state=\"" + state + "\"}"];
  };
  node(NodePhase::absent, NodePhase::absent);
  CHECK(now("absent") == 1);
  CHECK(changes("absent") == 0);
  node(NodePhase::absent, NodePhase::present);
  NodeEvent another;  // node, on a new session
  another.before = {.phase = NodePhase::present, .czxid = 1};
  another.state = {.phase = NodePhase::present, .czxid = 2};
  metrics.on_node(another);
  CHECK(now("absent") == 0);
  CHECK(now("present") == 1);
  CHECK(changes("present") == 1);
  node(NodePhase::present, NodePhase::suspect);
  node(NodePhase::suspect, NodePhase::absent);
  node(NodePhase::absent, NodePhase::taken);
  node(NodePhase::taken, NodePhase::failing);
  CHECK(now("failing") == 1);
  for (const char* state : {"suspect", "absent", "taken", "failing"}) CHECK(changes(state) == 1);
  node(NodePhase::failing, NodePhase::ended);
  for (const char* state : {"absent", "present", "suspect", "taken", "failing"}) CHECK(now(state) == 0);
}

TEST_CASE_METHOD(Fixture, "what is followed is counted by its freshness, and each change of it") {
  using State = Freshness::State;
  const auto follow = [&](State before, State state) {
    FollowEvent event;
    event.before = before;
    event.state = state;
    metrics.on_follow(event);
  };
  const auto now = [&](const std::string& state) { return scrape()["zklock_followed{state=\"" + state + "\"}"]; };
  follow(State::loading, State::loading);
  follow(State::loading, State::loading);
  CHECK(now("loading") == 2);
  follow(State::loading, State::live);
  follow(State::live, State::stale);
  follow(State::loading, State::gone);
  CHECK(now("loading") == 0);
  CHECK(now("live") == 0);
  CHECK(now("stale") == 1);
  CHECK(scrape()["zklock_followed_changes_total{state=\"live\"}"] == 1);
  CHECK(scrape()["zklock_followed_changes_total{state=\"loading\"}"] == 0);
  follow(State::stale, State::gone);
  CHECK(now("stale") == 0);
}
