// A client with metrics, which a server shows.
#pragma once

#include "support/exposition.hpp"
#include "support/fixture.hpp"
#include "support/http_client.hpp"

#include <zklock/metrics/server.hpp>

#include <boost/asio/thread_pool.hpp>

#include <memory>
#include <string>
#include <utility>

namespace zklock::test {

struct Observed {
  explicit Observed(const testing::TestServer& zookeeper,
                    std::shared_ptr<metrics::Metrics> with = std::make_shared<metrics::Metrics>(),
                    metrics::ServerOptions options = {}, std::chrono::milliseconds timeout = session_timeout)
      : metrics{std::move(with)},
        client{{.connect_string = zookeeper.connect_string(),
                .session_timeout = timeout,
                .observers = {metrics},
                .slow_wait = 100ms}},
        server{pool.get_executor(), metrics, {client}, std::move(options)} {}

  [[nodiscard]] HttpReply get(const std::string& path) const { return http_get(server.port(), path); }
  [[nodiscard]] Exposition scrape() const { return Exposition{get("/metrics").body}; }

  std::shared_ptr<metrics::Metrics> metrics;
  Client client;
  asio::thread_pool pool{1};
  metrics::Server server;
};

}  // namespace zklock::test
