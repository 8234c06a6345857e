// What remains of a client that is closed, or aborted, in each state of its connection.
#include "support/catch.hpp"

#include <zklock/testing/simulation.hpp>

#include <boost/asio/bind_executor.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds timeout{10'000};
constexpr Clock::duration longest = 5s;

/// A client, and a node that lives as long as its session. Ticks are long, so the servers keep a session for longer
/// than its client does.
struct Fixture {
  Simulation simulation{1, {.tick = 5s, .latency = 10ms}};
  ManualClock& clock = simulation.clock();
  FakeEnsemble& ensemble = simulation.ensemble();
  std::optional<Clock::duration> took;

  Client& client() { return simulation.client("a", {.session_timeout = timeout}); }
  void run(Clock::duration wait) { clock.run_for(simulation.context(), wait); }

  void make_node() {
    REQUIRE(client().state() == ConnectionState::connected);
    client().session().async_create("/mine", "", CreateMode::ephemeral, [](error_code, const CreateResult&) {});
    run(100ms);
    REQUIRE(node_is_there());
  }
  [[nodiscard]] bool node_is_there() const {
    const auto nodes = ensemble.nodes();
    return std::ranges::any_of(nodes, [](const FakeNode& node) { return node.path == "/mine"; });
  }

  void close() {
    client().async_close(asio::bind_executor(
        simulation.executor(), [this, begun = Clock::now()](error_code) { took = Clock::now() - begun; }));
  }
};

/// Brings the client to a state in which no server accepts connections.
using Approach = void (*)(Fixture&);

void never_connected(Fixture& fixture) {
  fixture.ensemble.refuse_connections();
  fixture.run(1s);
  CHECK(fixture.client().state() == ConnectionState::connecting);
}

void suspended(Fixture& fixture) {
  fixture.client();
  fixture.run(1s);
  fixture.make_node();
  fixture.ensemble.refuse_connections();
  fixture.ensemble.cut_all();
  fixture.run(2s);
  CHECK(fixture.client().state() == ConnectionState::suspended);
}

/// A server has accepted the connection and says nothing.
void reconnecting(Fixture& fixture) {
  fixture.client();
  fixture.run(1s);
  fixture.make_node();
  fixture.ensemble.cut_all();
  fixture.ensemble.hold_all_replies();
  fixture.run(1s);
  CHECK(fixture.client().state() == ConnectionState::suspended);
  fixture.ensemble.refuse_connections();
}

/// The session is over by the client's own clock, but not yet at the servers.
void lost(Fixture& fixture) {
  suspended(fixture);
  while (fixture.client().state() == ConnectionState::suspended) fixture.run(10ms);
  CHECK(fixture.client().state() == ConnectionState::lost);
  REQUIRE(fixture.node_is_there());
}

}  // namespace

TEST_CASE("a client that is closed while it is connected leaves no node") {
  Fixture fixture;
  fixture.client();
  fixture.run(1s);
  fixture.make_node();
  fixture.close();
  fixture.run(100ms);
  CHECK(fixture.took <= Clock::duration{100ms});
  CHECK_FALSE(fixture.node_is_there());
}

TEST_CASE("a client that is closed before it is connected is closed at once and leaves nothing") {
  Fixture fixture;
  never_connected(fixture);
  fixture.close();
  fixture.run(0s);
  CHECK(fixture.took == Clock::duration{0});
  fixture.ensemble.heal();
  fixture.run(1s);
  CHECK(fixture.ensemble.sessions().empty());
}

TEST_CASE("a client closed without a connection looks for a server, and leaves no node if it finds one in time") {
  const Approach approach = GENERATE(Approach{suspended}, Approach{reconnecting}, Approach{lost});
  Fixture fixture;
  approach(fixture);
  fixture.close();
  fixture.run(1s);
  CHECK_FALSE(fixture.took);
  CHECK(fixture.node_is_there());
  fixture.ensemble.heal();
  fixture.run(longest);
  REQUIRE(fixture.took);
  CHECK(*fixture.took <= longest);
  CHECK_FALSE(fixture.node_is_there());
  CHECK(fixture.ensemble.sessions().empty());
}

TEST_CASE("a client that is closed after a long search tries again at once") {
  Fixture fixture;
  Client& patient = fixture.simulation.client("b", {.session_timeout = 60s});
  fixture.run(1s);
  fixture.ensemble.refuse_connections();
  fixture.ensemble.cut_all();
  fixture.run(50s);  // the pauses have grown to six seconds
  CHECK(patient.state() == ConnectionState::suspended);
  fixture.ensemble.accept_connections();
  bool closed = false;
  patient.async_close(asio::bind_executor(fixture.simulation.executor(), [&](error_code) { closed = true; }));
  fixture.run(100ms);
  CHECK(closed);
  CHECK(fixture.ensemble.sessions().empty());
}

TEST_CASE("a client closed without a server is closed after 5 s, and its node stays until the session ends") {
  const Approach approach = GENERATE(Approach{suspended}, Approach{reconnecting}, Approach{lost});
  Fixture fixture;
  approach(fixture);
  fixture.close();
  fixture.run(longest);
  CHECK(fixture.took == longest);
  if (approach != Approach{lost}) CHECK(fixture.node_is_there());
  fixture.ensemble.heal();
  fixture.run(timeout + 5s);
  CHECK_FALSE(fixture.node_is_there());
}

TEST_CASE("a client that is aborted is closed at once in every state, and also while it closes") {
  const Approach approach =
      GENERATE(Approach{never_connected}, Approach{suspended}, Approach{reconnecting}, Approach{lost});
  const bool closes = GENERATE(false, true);
  Fixture fixture;
  approach(fixture);
  const bool had_node = fixture.node_is_there();
  if (closes) fixture.close();
  fixture.run(10ms);
  fixture.client().abort();
  fixture.close();
  fixture.run(0s);
  CHECK(fixture.took);
  CHECK(*fixture.took <= Clock::duration{10ms});
  CHECK(fixture.client().state() == ConnectionState::closed);
  CHECK(fixture.node_is_there() == had_node);
}

TEST_CASE("a client closed without a connection finds a server that comes back, however long its pauses were") {
  const Clock::duration away = GENERATE(Clock::duration{50ms}, Clock::duration{4s});
  Simulation simulation{1, {.tick = 5s, .latency = 10ms}};
  const auto run = [&](Clock::duration wait) { simulation.clock().run_for(simulation.context(), wait); };
  std::vector<Client*> clients;
  for (int i = 0; i < 8; ++i)
    clients.push_back(
        &simulation.client(std::to_string(i), {.session_timeout = 60s, .reconnect_jitter = std::chrono::hours{1}}));
  run(1s);
  REQUIRE(simulation.ensemble().sessions().size() == clients.size());
  simulation.ensemble().refuse_connections();
  simulation.ensemble().cut_all();
  run(1ms);
  for (Client* client : clients) client->async_close(asio::bind_executor(simulation.executor(), [](error_code) {}));
  run(away);
  simulation.ensemble().accept_connections();
  run(600ms);  // the longest pause is a tenth of five seconds
  CHECK(simulation.ensemble().sessions().empty());
}

TEST_CASE("a client closed while it connects anew, its session ended by the servers, is closed at once") {
  const bool answers = GENERATE(true, false);  // by a server that is silent, or none at all
  Fixture fixture;
  fixture.client();
  fixture.run(1s);
  fixture.make_node();
  const std::int64_t ended = fixture.client().session().id();
  fixture.ensemble.on_call([&](const FakeCall& call) {
    const bool is_next = call.operation == "connect" && call.session == 0;
    if (is_next && answers) asio::post(fixture.simulation.executor(), [&] { fixture.ensemble.hold_all_replies(); });
    return is_next && !answers ? FakeFault::cut : FakeFault::none;
  });
  fixture.ensemble.expire(ended);
  fixture.run(1s);
  CHECK(fixture.client().state() == ConnectionState::lost);
  CHECK_FALSE(fixture.node_is_there());
  fixture.close();
  fixture.run(0s);
  CHECK(fixture.took == Clock::duration{0});
  CHECK(fixture.client().state() == ConnectionState::closed);
  fixture.ensemble.heal();
  fixture.run(timeout + 5s);
  CHECK(fixture.ensemble.sessions().empty());
}

TEST_CASE("a client whose credentials were refused is closed at once, and its session ends in time") {
  Fixture fixture;
  Client& refused = fixture.simulation.client("b", {.session_timeout = timeout, .auth = {{"nonsense", "x"}}});
  fixture.run(1s);
  CHECK(refused.state() == ConnectionState::lost);
  CHECK(refused.session().state() == SessionState::auth_failed);
  std::optional<Clock::duration> took;
  refused.async_close(asio::bind_executor(fixture.simulation.executor(), [&, begun = Clock::now()](error_code error) {
    CHECK_FALSE(error);
    took = Clock::now() - begun;
  }));
  fixture.run(0s);
  CHECK(took == Clock::duration{0});
  CHECK(refused.state() == ConnectionState::closed);
  fixture.run(timeout + 5s);
  CHECK(fixture.ensemble.sessions().empty());
}

TEST_CASE("a client with several sessions closes all of them at the same time") {
  const bool all_cut = GENERATE(false, true);
  constexpr std::size_t count = 3;
  Fixture fixture;
  Client& client = fixture.simulation.client("b", {.session_timeout = timeout, .sessions = count});
  fixture.run(1s);
  REQUIRE(fixture.ensemble.sessions().size() == count);
  for (int i = 0; i < 12; ++i)
    client.async_create("/node" + std::to_string(i), "", CreateOptions{CreateMode::ephemeral},
                        [](error_code, const CreateResult&) {});
  fixture.run(1s);
  std::set<std::int64_t> owners;
  for (const FakeNode& node : fixture.ensemble.nodes())
    if (node.stat.ephemeral_owner != 0) owners.insert(node.stat.ephemeral_owner);
  REQUIRE(owners.size() == count);

  const std::int64_t cut_off = *owners.begin();
  fixture.ensemble.refuse_connections();
  if (all_cut) {
    fixture.ensemble.cut_all();
  } else {
    fixture.ensemble.cut(cut_off);
  }
  fixture.run(100ms);
  std::optional<Clock::duration> took;
  client.async_close(asio::bind_executor(fixture.simulation.executor(),
                                         [&, begun = Clock::now()](error_code) { took = Clock::now() - begun; }));
  fixture.run(100ms);
  CHECK_FALSE(took);
  CHECK(fixture.ensemble.sessions().size() == (all_cut ? count : 1));  // those with a link are told at once
  const bool comes_back = GENERATE(false, true);
  if (comes_back) fixture.ensemble.accept_connections();
  fixture.run(longest);
  REQUIRE(took);
  CHECK(*took <= longest);
  CHECK(client.state() == ConnectionState::closed);
  CHECK(fixture.ensemble.sessions().empty() == comes_back);
  fixture.ensemble.heal();
  fixture.run(timeout + 5s);
  CHECK(fixture.ensemble.sessions().empty());
}

TEST_CASE("an operation that is under way when its client is closed says whether it was sent") {
  Fixture fixture;
  Client& client = fixture.client();
  fixture.run(1s);
  std::vector<error_code> errors;
  const auto create = [&] {
    client.async_create("/x", "", CreateOptions{},
                        asio::bind_executor(fixture.simulation.executor(),
                                            [&](error_code error, const CreateResult&) { errors.push_back(error); }));
  };
  const bool sent = GENERATE(true, false);
  if (sent) {
    fixture.ensemble.hold_all_replies();
  } else {
    fixture.ensemble.refuse_connections();
    fixture.ensemble.cut_all();
    fixture.run(100ms);
  }
  create();
  fixture.run(100ms);
  fixture.close();
  fixture.run(0s);
  REQUIRE(errors.size() == 1);
  CHECK(errors.front() == make_error_code(sent ? Error::closing : Error::closed));
  CHECK(outcome_of(errors.front()) == (sent ? Outcome::ambiguous : Outcome::not_applied));
}
