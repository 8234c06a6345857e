// Peers that are no ZooKeeper servers, or broken ones. Whatever they say, the process lives, attempts become rarer, and
// the client works once a server tells the truth. [F129]
#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/log.hpp"
#include "support/lying_server.hpp"

#include <array>

using namespace zklock;
using namespace zklock::test;

namespace {

constexpr std::array lies{Lie::zeros,
                          Lie::no_session,
                          Lie::no_timeout,
                          Lie::negative_timeout,
                          Lie::endless_timeout,
                          Lie::short_password,
                          Lie::http,
                          Lie::half_a_handshake,
                          Lie::hang_up,
                          Lie::unasked_reply,
                          Lie::unasked_after_ping,
                          Lie::torn_event,
                          Lie::short_frame,
                          Lie::negative_length};

/// The lies that are told where a client looks for a session, or has one.
constexpr int told = 3;

Client client_of(const LyingServer& server, std::shared_ptr<spdlog::logger> logger = {}) {
  return Client{{.connect_string = server.address(), .session_timeout = 3s, .logger = std::move(logger)}};
}

/// A server of this kind answers no_node.
bool is_answered(const Client& client) {
  const Session session = client.session();
  return session && std::get<0>(outcome_of_operation<std::optional<Stat>>([&](auto token) {
                      session.async_exists("/a", std::move(token));
                    })) == error_code{} &&
         client.session().timeout() > 0ms;
}

}  // namespace

TEST_CASE("a client outlives whatever a peer says, and works once it tells the truth", "[faults]") {
  for (const Lie lie : lies)
    for (const bool has_session : {false, true}) {
      CAPTURE(static_cast<int>(lie), has_session);
      LyingServer server;
      if (!has_session) server.lie(lie, told);
      Client client = client_of(server);
      if (has_session) {
        REQUIRE(eventually([&] { return is_answered(client); }));
        server.lie(lie, told);
        server.hang_up();
      }
      CHECK(eventually([&] { return server.connections() > told && is_answered(client); }));
      CHECK(client.session().timeout() == LyingServer::granted);
      client.abort();  // the server would not answer a close
    }
}

TEST_CASE("attempts at a peer that is no ZooKeeper server become rarer, and the log stays short", "[faults]") {
  for (const Lie lie : {Lie::zeros, Lie::http, Lie::hang_up, Lie::unasked_reply}) {
    CAPTURE(static_cast<int>(lie));
    LyingServer server;
    server.lie(lie, 1'000'000);
    Log log;
    const auto begin = Clock::now();
    Client client = client_of(server, log.logger());
    CHECK(eventually([&] { return server.connections() >= 8; }));
    CHECK(Clock::now() - begin > 300ms);  // the pauses are at least 10, 20, 40, 80 and 160 ms
    CHECK(log.count("zookeeper: ") <= 6);
    if (lie == Lie::http) CHECK(client.connection_trouble().find("is it a ZooKeeper server?") != std::string::npos);
    client.abort();
  }
}

TEST_CASE("replies that come in two parts are replies", "[faults]") {
  LyingServer server;
  server.lie(Lie::in_two, 1);
  Client client = client_of(server);
  REQUIRE(eventually([&] { return is_answered(client); }));
  for (int i = 0; i < 60; ++i) CHECK(is_answered(client));
  CHECK(server.connections() == 1);
  client.abort();
}
