// Peers that are no ZooKeeper servers, or broken ones. Whatever they say, the process lives, attempts become rarer, and
// the client works once a server tells the truth. [F129]
#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/log.hpp"
#include "support/lying_server.hpp"

#include <zklock/transaction.hpp>

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

TEST_CASE("replies that are too short, or to another transaction, cost the connection alone", "[faults]") {
  LyingServer server;
  Client client = client_of(server);
  REQUIRE(eventually([&] { return is_answered(client); }));
  const auto fails = [&](auto outcome) {
    const error_code error = std::get<0>(outcome);
    CHECK(outcome_of(error) == Outcome::ambiguous);
    CHECK(eventually([&] { return is_answered(client); }));
  };
  const auto session = [&] { return client.session(); };
  Bytes a_delete;
  a_delete.number(2).number(0).number(0);  // and the first byte of the next part
  for (const Bytes& body : {Bytes{}, Bytes{}.number(-1), Bytes{}.number(0x7fff'ffff), a_delete}) {
    CAPTURE(body.str().size());
    for (const Opcode opcode :
         {Opcode::create2, Opcode::get_data, Opcode::get_children2, Opcode::get_acl, Opcode::multi})
      server.answer(opcode, 0, body);
    fails(outcome_of_operation<CreateResult>(
        [&](auto token) { session().async_create("/a", "", CreateMode::persistent, std::move(token)); }));
    fails(outcome_of_operation<DataResult>([&](auto token) { session().async_get_data("/a", std::move(token)); }));
    fails(outcome_of_operation<ChildrenResult>(
        [&](auto token) { session().async_get_children("/a", std::move(token)); }));
    fails(outcome_of_operation<AclResult>([&](auto token) { session().async_get_acl("/a", std::move(token)); }));
    const Transaction two = Transaction{}.remove("/a").remove("/b");
    fails(outcome_of_operation<TransactionResults>([&](auto token) { session().async_commit(two, std::move(token)); }));
  }
  client.abort();
}
