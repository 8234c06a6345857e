// zklock dashboard beside locks: what ends it, or what it reads, ends no lock. Its page is tested in a browser.
#include "support/beside_program.hpp"
#include "support/catch.hpp"
#include "support/http_client.hpp"
#include "support/temporary_directory.hpp"

#include <zklock/audit/audit_log.hpp>
#include <zklock/metrics/metrics.hpp>

#include <fstream>

using namespace zklock;
using namespace zklock::test;

namespace {

class Dashboard {
 public:
  Dashboard(const std::string& connect, const std::string& base, std::vector<std::string> more = {})
      : program_{words(connect, base, std::move(more))}, url_{program_.line()} {}
  [[nodiscard]] std::string url(const std::string& page) const { return url_.substr(0, url_.rfind('/')) + page; }
  [[nodiscard]] HttpReply get(const std::string& page) const {
    const auto port = url_.rfind(':') + 1;
    return http_get(static_cast<std::uint16_t>(std::stoi(url_.substr(port))), page,
                    url_.substr(7, url_.find('/', 7) - 7));
  }
  [[nodiscard]] bool comes_to_say(const std::string& text) const {
    return eventually([&] { return get("/metrics").body.find(text) != std::string::npos; }, 20s);
  }
  void kill() {
    program_.signal(SIGKILL);
    static_cast<void>(program_.wait());
  }

 private:
  static std::vector<std::string> words(const std::string& connect, const std::string& base,
                                        std::vector<std::string> more) {
    more.insert(more.begin(), {"dashboard", "--connect", connect, "--base", base, "--listen", "127.0.0.1:0"});
    return more;
  }

  Program program_;
  std::string url_;
};

std::string queue_length(const std::string& lock, const char* role, int length) {
  return "zklock_queue_length{lock=\"" + lock + "\",role=\"" + role + "\"} " + std::to_string(length) + "\n";
}

}  // namespace

TEST_CASE("killing a dashboard, a page that it scrapes, or ZooKeeper under it harms no lock") {
  ProgramSetup setup;
  const std::string base = setup.path;
  const Client client = make_client(setup.server);
  const InterProcessMutex mutex{client, base + "/a"};
  Lease first = acquire(mutex);
  Pending<Lease> second;
  Pending<Lease> third;
  mutex.async_acquire(second.handler());

  Dashboard scraped{setup.server.connect_string(), base};
  Dashboard dashboard{setup.server.connect_string(), base, {"--scrape", scraped.url("/metrics")}};
  REQUIRE(scraped.comes_to_say(queue_length(base + "/a", "waiting", 1)));
  scraped.kill();
  REQUIRE(dashboard.comes_to_say(queue_length(base + "/a", "waiting", 1)));
  CHECK_FALSE(second.ready());

  setup.server.kill();
  CHECK(eventually([&] { return dashboard.get("/readyz").status == 503; }));
  CHECK(dashboard.get("/livez").status == 200);
  setup.server.start();
  CHECK(eventually([&] { return dashboard.get("/readyz").status == 200; }));
  CHECK(first.state() != LeaseState::lost);
  CHECK_FALSE(second.ready());
  first = {};
  auto [error, lease] = second.get();
  REQUIRE_FALSE(error);

  mutex.async_acquire(third.handler());
  CHECK(dashboard.comes_to_say(queue_length(base + "/a", "holding", 1)));
  dashboard.kill();
  CHECK_FALSE(third.ready());
  CHECK(lease.is_held());
  lease = {};
  CHECK_FALSE(std::get<0>(third.get()));
  // Nothing of the dashboards is left that could hold anything up.
  CHECK(eventually([&] { return setup.server.monitor("zk_watch_count") == 0; }));
}

TEST_CASE("alerts, panels and pages name the metrics of real scrapes, and all of them") {
  ProgramSetup setup;
  const auto audit = std::make_shared<AuditLog>(AuditOptions{.file = "/dev/null"});
  const auto metrics = std::make_shared<metrics::Metrics>(metrics::MetricsOptions{.audit = [audit] {
    return metrics::AuditCounts{audit->records(), audit->dropped()};
  }});
  Client client{{.connect_string = setup.server.connect_string(), .observers = {audit, metrics}}};
  const InterProcessMutex mutex{client, setup.path + "/a"};
  const Lease held = acquire(mutex);
  Lease released = acquire(InterProcessMutex{client, setup.path + "/b"});
  Pending<Lease> waiting;
  mutex.async_acquire(waiting.handler());
  const Dashboard dashboard{setup.server.connect_string(), setup.path};
  REQUIRE(dashboard.comes_to_say(queue_length(setup.path + "/a", "waiting", 1)));
  REQUIRE(dashboard.comes_to_say("zklock_queue_head_timestamp_seconds{"));
  const std::string of_dashboard = dashboard.get("/metrics").body;
  setup.server.kill();
  released = {};  // its node is to be deleted when the server is back
  REQUIRE(eventually([&] { return metrics->text().find("\nzklock_cleanups_pending 1\n") != std::string::npos; }));

  const TemporaryDirectory directory;
  std::ofstream{directory.file("service")} << metrics->text();
  std::ofstream{directory.file("dashboard")} << of_dashboard;
  Process check{ZKLOCK_PYTHON,
                {ZKLOCK_SOURCE_DIR "/test/operations/metric_names.py", ZKLOCK_SOURCE_DIR, directory.file("service"),
                 directory.file("dashboard")}};
  INFO(check.rest() << check.errors());
  CHECK(check.wait() == 0);
}
