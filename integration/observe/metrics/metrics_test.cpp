// Metrics of real clients and locks, and a scrape of them by Prometheus itself.
#include "observed.hpp"
#include "prometheus_program.hpp"
#include "support/catch.hpp"
#include "support/process.hpp"

#include <zklock/recipes/locks/inter_process_semaphore.hpp>

#include <set>
#include <string>

using namespace zklock;
using namespace zklock::metrics;
using namespace zklock::test;

namespace {

/// The metrics of docs/metrics.md but those of the audit log.
const std::set<std::string> documented{"zklock_acquisitions_total",
                                       "zklock_acquire_wait_seconds",
                                       "zklock_hold_seconds",
                                       "zklock_waiters",
                                       "zklock_holders",
                                       "zklock_oldest_waiter_timestamp_seconds",
                                       "zklock_oldest_holder_timestamp_seconds",
                                       "zklock_leases",
                                       "zklock_leases_lost_total",
                                       "zklock_lease_validity_seconds",
                                       "zklock_revocations_total",
                                       "zklock_slow_waits_total",
                                       "zklock_lock_labels_folded_total",
                                       "zklock_kept_nodes",
                                       "zklock_kept_nodes_changes_total",
                                       "zklock_followed",
                                       "zklock_followed_changes_total",
                                       "zklock_client_state",
                                       "zklock_last_contact_timestamp_seconds",
                                       "zklock_session_timeout_seconds",
                                       "zklock_sessions_total",
                                       "zklock_sessions_lost_total",
                                       "zklock_suspensions_total",
                                       "zklock_requests_total",
                                       "zklock_retries_total",
                                       "zklock_request_seconds",
                                       "zklock_requests_in_flight",
                                       "zklock_cleanups_pending",
                                       "zklock_oldest_cleanup_timestamp_seconds",
                                       "zklock_io_delay_seconds",
                                       "zklock_watches",
                                       "zklock_build_info"};

}  // namespace

TEST_CASE("a scrape shows a mutex and a semaphore, held and waited for, and a lost session") {
  auto& server = shared_server();
  Observed observed{server};
  const Client other = make_client(server);
  const std::string mutex_path = fresh_path();
  const std::string permits = fresh_path();
  InterProcessSemaphore semaphore{observed.client, permits, 2};
  const Lease permit =
      std::get<1>(outcome_of_operation<Lease>([&](auto token) { semaphore.async_acquire(std::move(token)); }));
  InterProcessMutex mutex{observed.client, mutex_path};
  Lease theirs = acquire(InterProcessMutex{other, mutex_path});
  CHECK_FALSE(mutex.try_lock_for(1s));
  Pending<Lease> waiting;
  mutex.async_acquire(waiting.handler());
  const std::string labels = "{lock=\"" + mutex_path + "\",kind=\"mutex\"";
  const std::string waiter = "zklock_oldest_waiter_timestamp_seconds{lock=\"" + mutex_path + "\"}";
  REQUIRE(eventually([&] { return observed.scrape()["zklock_waiters" + labels + "}"] == 1; }));
  REQUIRE(eventually(
      [&] { return observed.scrape()["zklock_slow_waits_total{lock=\"" + mutex_path + "\"}"].value() >= 1; }));
  REQUIRE(eventually([&] { return observed.scrape()["zklock_watches"].value() > 0; }));
  CHECK(observed.scrape()[waiter].value() > 1e9);
  theirs = Lease{};
  const Lease held = std::get<1>(waiting.get());

  REQUIRE(eventually([&] { return observed.scrape()["zklock_io_delay_seconds_count"].value() > 0; }));
  REQUIRE(eventually([&] { return observed.scrape()["zklock_lease_validity_seconds"].has_value(); }));
  const Exposition seen = observed.scrape();
  CHECK(seen.families() == documented);
  CHECK(seen["zklock_acquisitions_total" + labels + ",outcome=\"granted\"}"] == 1);
  CHECK(seen["zklock_acquisitions_total" + labels + ",outcome=\"timed_out\"}"] == 1);
  CHECK(seen["zklock_acquire_wait_seconds_count" + labels + "}"] == 2);
  CHECK(seen["zklock_holders" + labels + "}"] == 1);
  CHECK_FALSE(seen[waiter]);
  CHECK(seen["zklock_holders{lock=\"" + permits + "/leases\",kind=\"permit\"}"] == 1);
  CHECK(seen["zklock_leases{state=\"held\"}"] == 2);
  CHECK(seen["zklock_client_state{state=\"connected\"}"] == 1);
  CHECK(seen["zklock_session_timeout_seconds"] == session_timeout / 1s);
  CHECK(seen["zklock_lease_validity_seconds"].value() > 1.5);
  CHECK(seen["zklock_lease_validity_seconds"].value() < session_timeout / 1s);
  CHECK(seen["zklock_requests_total{operation=\"create\",result=\"ok\"}"].value() >= 2);
  CHECK(seen["zklock_sessions_total"] == 1);

  const SessionCredentials credentials = observed.client.session().credentials();
  server.end_session(credentials.id, {credentials.password.data(), credentials.password.size()});
  REQUIRE(eventually([&] { return observed.scrape()["zklock_sessions_total"] == 2; }));
  REQUIRE(eventually([&] { return observed.scrape().sum("zklock_leases{") == 0; }));
  const Exposition after = observed.scrape();
  CHECK(after["zklock_sessions_lost_total"] == 1);
  CHECK(after["zklock_leases_lost_total{lock=\"" + mutex_path + "\",cause=\"session_expired\"}"] == 1);
  CHECK(after.sum("zklock_leases_lost_total{") == 2);
  CHECK(after.sum("zklock_holders{") == 0);
  CHECK_FALSE(after["zklock_lease_validity_seconds"]);
}

TEST_CASE("what begins at a client ends in its metrics when the client is closed") {
  auto& server = shared_server();
  const auto metrics = std::make_shared<Metrics>();
  {
    const Observed observed{server, metrics};
    const InterProcessMutex mutex{observed.client, fresh_path()};
    const Lease lease = acquire(mutex);
    Pending<Lease> waiting;
    mutex.async_acquire(waiting.handler());
    REQUIRE(eventually([&] { return observed.scrape().sum("zklock_waiters{") == 1; }));
  }
  const Exposition seen{metrics->text()};
  CHECK(seen.sum("zklock_waiters{") == 0);
  CHECK(seen.sum("zklock_holders{") == 0);
  CHECK(seen["zklock_requests_in_flight"] == 0);
  CHECK(seen["zklock_cleanups_pending"] == 0);
  CHECK(seen.sum("zklock_client_state") == 0);
}

TEST_CASE("promtool has nothing to say against a real scrape") {
  const Observed observed{shared_server()};
  const Lease lease = acquire(InterProcessMutex{observed.client, fresh_path()});
  REQUIRE(eventually([&] { return observed.scrape()["zklock_lease_validity_seconds"].has_value(); }));
  Process promtool{"promtool", {"check", "metrics"}};
  promtool.say(observed.metrics->text());
  promtool.end_input();
  const std::string objections = promtool.rest() + promtool.errors();
  INFO(objections);
  CHECK(promtool.wait() == 0);
  CHECK(objections.empty());
}

TEST_CASE("Prometheus scrapes the metrics of a client") {
  const Observed observed{shared_server()};
  const std::string path = fresh_path();
  const Lease lease = acquire(InterProcessMutex{observed.client, path});
  const PrometheusProgram prometheus{observed.server.port()};
  REQUIRE(eventually([&] { return prometheus.query("up") == "1"; }, 60s));
  REQUIRE(eventually([&] { return prometheus.query("sum(zklock_holders)") == "1"; }, 60s));
  CHECK(prometheus.query("zklock_client_state{state=\"connected\"}") == "1");
}
