// Health checks when ZooKeeper goes away and comes back, and when the client itself hangs.
#include "observed.hpp"
#include "support/catch.hpp"

#include <boost/asio/post.hpp>

#include <future>

using namespace zklock;
using namespace zklock::metrics;
using namespace zklock::test;

namespace {

bool has(const HttpReply& reply, const std::string& text) { return reply.body.find(text) != std::string::npos; }

}  // namespace

TEST_CASE("readyz follows ZooKeeper, and livez does not ask it") {
  testing::TestServer zookeeper{{.tick = 1s}};
  const Observed observed{zookeeper, std::make_shared<Metrics>(), {}, 20s};
  REQUIRE(observed.client.wait_connected(20s));
  const Lease lease = acquire(InterProcessMutex{observed.client, "/lock"});
  for (const std::string path : {"/readyz", "/healthz"}) {
    const HttpReply reply = observed.get(path);
    INFO(reply.body);
    CHECK(reply.status == 200);
    CHECK(has(reply, R"({"state":"connected","last_contact_s":)"));
    CHECK(has(reply, R"("sessions":[{"id":"0x)"));
    CHECK(has(reply, R"("state":"connected","timeout_s":20.000,)"));
    CHECK(has(reply, R"("leases":{"held":1,"suspect":0},"validity_s":)"));
    CHECK_FALSE(has(reply, R"("validity_s":null)"));
    CHECK(has(reply, R"(,"cleanups_pending":0,"io_delay_s":)"));
  }
  zookeeper.stop();
  REQUIRE(eventually([&] { return observed.get("/readyz").status == 503; }));
  CHECK(has(observed.get("/readyz"), R"({"state":"suspended")"));
  CHECK(has(observed.get("/readyz"), R"("leases":{"held":0,"suspect":1})"));
  CHECK(observed.get("/livez").status == 200);
  zookeeper.start();
  REQUIRE(eventually([&] { return observed.get("/readyz").status == 200; }));
  CHECK(has(observed.get("/readyz"), R"({"state":"reconnected")"));
  CHECK(has(observed.get("/readyz"), R"("leases":{"held":1,"suspect":0})"));
}

TEST_CASE("livez fails while the client's I/O hangs, and the delay is in the metrics afterwards") {
  // The I/O is looked at each ninth of the session's timeout: at least once while /livez waits.
  const Observed observed{shared_server(), std::make_shared<Metrics>(), {}, 4s};
  REQUIRE(observed.client.wait_connected(20s));
  CHECK(observed.get("/livez").status == 200);
  std::promise<void> go_on;
  asio::post(observed.client.get_executor(), [waits = go_on.get_future().share()] { waits.wait(); });
  CHECK(observed.get("/livez").status == 503);
  go_on.set_value();
  CHECK(observed.get("/livez").status == 200);
  REQUIRE(eventually([&] {
    const Exposition seen = observed.scrape();
    return seen["zklock_io_delay_seconds_count"].value() > seen["zklock_io_delay_seconds_bucket{le=\"0.1\"}"].value();
  }));
}
