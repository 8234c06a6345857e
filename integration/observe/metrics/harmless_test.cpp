// Scrapers that misbehave harm no lock.
#include "observed.hpp"
#include "prometheus_program.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

using namespace zklock;
using namespace zklock::metrics;
using namespace zklock::test;

namespace {

/// A holder and a stream of cycles on another lock go on while `harass` runs, and the session is never suspended.
void check_locks_go_on(const Observed& observed, const std::function<void()>& harass) {
  const Lease lease = acquire(InterProcessMutex{observed.client, fresh_path()});
  const InterProcessMutex mutex{observed.client, fresh_path()};
  std::atomic<int> cycles{0};
  {
    std::jthread worker{[&](const std::stop_token& stop) {
      for (; !stop.stop_requested(); ++cycles) static_cast<void>(acquire(mutex));
    }};
    harass();
    const int before = cycles;
    CHECK(eventually([&] { return cycles > before + 20; }, 60s));
  }
  CHECK(lease.state() == LeaseState::held);
  const Exposition seen{observed.metrics->text()};
  CHECK(seen["zklock_suspensions_total"] == 0);
  CHECK(seen["zklock_sessions_total"] == 1);
  CHECK(seen.sum("zklock_leases_lost_total{") == 0);
}

const std::string scrape_request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";

}  // namespace

TEST_CASE("a scraper that takes no reply harms no lock") {
  const Observed observed{shared_server(), std::make_shared<Metrics>(), {.request_time = 500ms}};
  check_locks_go_on(observed, [&] {
    constexpr int requests = 1'000;  // the replies fill all buffers
    std::vector<std::unique_ptr<HttpConnection>> stalled;
    for (int i = 0; i < 2; ++i) {
      stalled.push_back(std::make_unique<HttpConnection>(observed.server.port()));
      for (int request = 0; request < requests; ++request) stalled.back()->say(scrape_request);
    }
    CHECK(observed.get("/livez").status == 200);
    REQUIRE(
        eventually([&] { return std::ranges::all_of(stalled, [](const auto& each) { return each->is_cut(); }); }, 60s));
    CHECK(observed.get("/metrics").status == 200);
  });
}

TEST_CASE("scrapers that take no reply do not keep a probe out") {
  const Observed observed{shared_server(), std::make_shared<Metrics>(), {.max_connections = 2}};
  std::vector<std::unique_ptr<HttpConnection>> stalled;
  for (int i = 0; i < 2; ++i) {
    stalled.push_back(std::make_unique<HttpConnection>(observed.server.port()));
    for (int request = 0; request < 1'000; ++request) stalled.back()->say(scrape_request);
  }
  for (int i = 0; i < 3; ++i) CHECK(observed.get("/livez").status == 200);
}

TEST_CASE("a scraper that floods the server harms no lock") {
  const Observed observed{shared_server()};
  check_locks_go_on(observed, [&] {
    std::atomic<int> answered{0};
    std::vector<std::jthread> floods;
    for (int i = 0; i < 4; ++i)
      floods.emplace_back([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          HttpConnection ignored{observed.server.port()};
          ignored.say("x");
          answered += observed.get("/metrics").status == 200 ? 1 : 0;
        }
      });
    CHECK(eventually([&] { return answered > 100; }, 60s));
  });
}

TEST_CASE("Prometheus is killed, and no lock is harmed") {
  const Observed observed{shared_server()};
  check_locks_go_on(observed, [&] {
    const PrometheusProgram prometheus{observed.server.port()};
    REQUIRE(eventually([&] { return prometheus.query("up") == "1"; }, 60s));
    prometheus.process().signal(SIGKILL);
    REQUIRE(eventually([&] { return prometheus.process().has_ended(); }));
  });
  CHECK(observed.get("/metrics").status == 200);
}
