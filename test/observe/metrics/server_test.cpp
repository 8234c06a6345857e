// The server of metrics and health checks, without a client of ZooKeeper.
#include "support/catch.hpp"
#include "support/exposition.hpp"
#include "support/http_client.hpp"

#include <zklock/metrics/server.hpp>

#include <boost/asio/thread_pool.hpp>
#include <boost/system/system_error.hpp>

#include <memory>
#include <stdexcept>
#include <vector>

using namespace zklock;
using namespace zklock::metrics;
using namespace zklock::test;
using namespace std::chrono_literals;

namespace {

struct Fixture {
  boost::asio::thread_pool pool{2};
  std::shared_ptr<Metrics> metrics = std::make_shared<Metrics>();

  [[nodiscard]] std::unique_ptr<Server> serve(ServerOptions options = {}) {
    return std::make_unique<Server>(pool.get_executor(), metrics, std::vector<ClientHandle>{}, std::move(options));
  }
  ~Fixture() { pool.join(); }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "the metrics are served as Prometheus' text") {
  const auto server = serve();
  const HttpReply reply = http_get(server->port(), "/metrics");
  CHECK(reply.status == 200);
  CHECK(reply.headers.find("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n") != std::string::npos);
  CHECK(reply.headers.find("X-Content-Type-Options: nosniff") != std::string::npos);
  CHECK(Exposition{reply.body}.families() == Exposition{metrics->text()}.families());
  CHECK(http_get(server->port(), "/livez").status == 200);
  CHECK(http_get(server->port(), "/").status == 404);
  CHECK(http_get(server->port(), "/metrics", "127.0.0.1", "POST").status == 405);
}

TEST_CASE_METHOD(Fixture, "HEAD is answered as GET, without the body") {
  const auto server = serve();
  const std::string whole = http_get(server->port(), "/livez").body;
  REQUIRE_FALSE(whole.empty());
  const HttpReply reply = http_get(server->port(), "/livez", "127.0.0.1", "HEAD");
  CHECK(reply.status == 200);
  CHECK((reply.headers + "\r\n").find("Content-Length: " + std::to_string(whole.size()) + "\r\n") != std::string::npos);
  CHECK(reply.body.empty());
  CHECK(http_get(server->port(), "/nowhere", "127.0.0.1", "HEAD").status == 404);
}

TEST_CASE_METHOD(Fixture, "a page that has its name point here gets nothing") {
  const auto server = serve({.allowed_hosts = {"Metrics.example"}});
  for (const std::string host :
       {"localhost", "127.0.0.1:9178", "10.1.2.3:80", "[::1]:80", "metrics.example", "METRICS.example:80"})
    CHECK(http_get(server->port(), "/metrics", host).status == 200);
  for (const std::string host : {"evil.example", "metrics.example.evil", "127.0.0.1.evil.example", "[::1", "1:x", ""})
    CHECK(http_get(server->port(), "/metrics", host).status == 403);
  CHECK(http_get(server->port(), "/livez", "evil.example").status == 403);
}

TEST_CASE_METHOD(Fixture, "a request that is too large, or does not come, ends its connection") {
  const auto server = serve({.request_time = 200ms});
  HttpConnection large{server->port()};
  large.say("GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(9'000, 'x') + "\r\n\r\n");
  CHECK(large.rest().status == 431);
  HttpConnection body{server->port()};
  body.say("GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n");
  CHECK(body.rest().status == 413);
  HttpConnection silent{server->port()};
  CHECK(silent.rest().status == 0);
  HttpConnection slow{server->port()};
  slow.say("GET /metrics HTTP/1.1\r\n");
  CHECK(slow.rest().status == 0);
  CHECK(http_get(server->port(), "/metrics").status == 200);
}

TEST_CASE_METHOD(Fixture, "silent connections do not keep a new one out") {
  const auto server = serve({.max_connections = 4});
  std::vector<std::unique_ptr<HttpConnection>> silent;
  for (int i = 0; i < 12; ++i) silent.push_back(std::make_unique<HttpConnection>(server->port()));
  for (int i = 0; i < 3; ++i) CHECK(http_get(server->port(), "/livez").status == 200);
  CHECK(silent.front()->rest().status == 0);
}

TEST_CASE_METHOD(Fixture, "a server that cannot listen says so") {
  const auto server = serve();
  CHECK_THROWS_AS(serve({.port = server->port()}), boost::system::system_error);
  CHECK_THROWS_AS(serve({.host = "no-address"}), std::invalid_argument);
  CHECK_THROWS_AS(serve({.max_connections = 0}), std::invalid_argument);
  CHECK_THROWS_AS(serve({.request_time = 0ms}), std::invalid_argument);
}

TEST_CASE_METHOD(Fixture, "a server that has ended listens no more, and ends its connections") {
  auto server = serve();
  const auto port = server->port();
  HttpConnection open{port};
  CHECK(http_get(port, "/livez").status == 200);
  server.reset();
  CHECK(open.rest().status == 0);
  CHECK(http_get(port, "/livez").status == 0);
}
