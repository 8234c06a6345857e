// The controls of a FakeEnsemble, and how a client reacts to them.
#include "support/catch.hpp"

#include <zklock/testing/simulation.hpp>

#include <boost/asio/bind_executor.hpp>

#include <algorithm>
#include <future>
#include <list>
#include <memory>
#include <optional>
#include <tuple>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

/// An operation's outcome, which is set once the simulation has run far enough.
template <class... Results>
using Outcome = std::shared_ptr<std::optional<std::tuple<error_code, Results...>>>;

struct Fixture {
  Simulation simulation;
  ManualClock& clock = simulation.clock();
  FakeEnsemble& ensemble = simulation.ensemble();
  Client& client = simulation.client("a", {.session_timeout = 10s});

  explicit Fixture(const FakeEnsembleOptions& options = {.servers = 3}) : simulation{1, options} { run(1s); }

  void run(Clock::duration wait) { clock.run_for(simulation.context(), wait); }
  void run_ready() { clock.run_ready(simulation.context()); }
  [[nodiscard]] Session session() const { return client.session(); }

  template <class... Results>
  static auto note(const Outcome<Results...>& outcome) {
    return [outcome](error_code error, Results... results) { outcome->emplace(error, std::move(results)...); };
  }
  template <class... Results, class Start>
  Outcome<Results...> start(Start start) {
    auto outcome = std::make_shared<std::optional<std::tuple<error_code, Results...>>>();
    start(asio::bind_executor(simulation.executor(), note<Results...>(outcome)));
    return outcome;
  }
  Outcome<CreateResult> create(const std::string& path, CreateMode mode = CreateMode::persistent) {
    return start<CreateResult>([&](auto token) { session().async_create(path, "", mode, std::move(token)); });
  }
  Outcome<WatchEvent> watch_children(const std::string& path) {
    const auto set = start<ChildrenResult, Watch>(
        [&](auto token) { session().async_get_children_and_watch(path, std::move(token)); });
    run(1s);
    REQUIRE_FALSE(std::get<0>(set->value()));
    watches_.push_back(std::move(std::get<2>(set->value())));
    return start<WatchEvent>([&](auto token) { watches_.back().async_wait(std::move(token)); });
  }
  [[nodiscard]] bool exists(const std::string& path) const {
    const auto nodes = ensemble.nodes();
    return std::any_of(nodes.begin(), nodes.end(), [&](const FakeNode& node) { return node.path == path; });
  }
  /// Applies the fault to the next call of that operation.
  void strike(std::string operation, bool applied, FakeFault fault) {
    ensemble.on_call([operation = std::move(operation), applied, fault, done = false](const FakeCall& call) mutable {
      if (done || call.operation != operation || call.applied != applied) return FakeFault::none;
      done = true;
      return fault;
    });
  }
  std::list<Watch> watches_;
};

struct SlowWrites : Fixture {
  SlowWrites() : Fixture{{.write_time = 10ms}} {}
};

template <class... Results>
error_code error_of(const Outcome<Results...>& outcome) {
  REQUIRE(outcome->has_value());
  return std::get<0>(outcome->value());
}

}  // namespace

TEST_CASE_METHOD(Fixture, "nothing completes inside the call that starts it") {
  const auto created = create("/x");
  CHECK_FALSE(created->has_value());
  run_ready();
  CHECK(exists("/x"));
  CHECK_FALSE(error_of(created));
}

TEST_CASE_METHOD(Fixture, "a lost request is not carried out, one whose reply is lost is, and both look alike") {
  const bool applied = GENERATE(false, true);
  strike("create", applied, FakeFault::cut);
  const auto created = create("/x");
  run_ready();
  CHECK(error_of(created) == Error::connection_loss);
  CHECK(exists("/x") == applied);
  CHECK(client.state() == ConnectionState::suspended);
  const auto meanwhile = create("/y");
  run_ready();
  CHECK(error_of(meanwhile) == Error::not_connected);
  run(1s);
  CHECK(client.state() == ConnectionState::reconnected);
  CHECK(ensemble.counters().sessions_made == 1);
}

TEST_CASE_METHOD(Fixture, "an expired session's ephemeral nodes are deleted, and the client hears of it at once") {
  const std::int64_t id = session().id();
  const Session before = session();
  create("/e", CreateMode::ephemeral);
  run_ready();
  ensemble.expire(id);
  CHECK_FALSE(exists("/e"));
  CHECK_FALSE(ensemble.is_alive(id));
  run(1s);
  CHECK(before.state() == SessionState::expired);
  CHECK(client.state() == ConnectionState::reconnected);
  CHECK(session().id() != id);
}

TEST_CASE_METHOD(Fixture, "a watch survives a lost link, and fires for a change that happened meanwhile") {
  create("/d");
  create("/d/old");
  run_ready();
  const auto event = watch_children("/d");
  SECTION("nothing happened") {
    ensemble.cut_all();
    run(1s);
    CHECK_FALSE(event->has_value());
    CHECK(ensemble.watches().size() == 1);
    create("/d/new");
    run_ready();
    CHECK_FALSE(error_of(event));
  }
  SECTION("a child went") {
    ensemble.refuse_connections();
    ensemble.cut_all();
    ensemble.remove("/d/old");
    CHECK(ensemble.watches().empty());
    run(1s);
    CHECK_FALSE(event->has_value());
    ensemble.accept_connections();
    run(1s);
    CHECK_FALSE(error_of(event));
    CHECK(std::get<1>(event->value()).type == WatchEventType::node_children_changed);
  }
}

TEST_CASE_METHOD(Fixture, "held replies count as late replies, and the client gives the connection up in time") {
  ensemble.hold_all_replies();
  const auto created = create("/x");
  run(5s);
  CHECK(exists("/x"));
  CHECK_FALSE(created->has_value());
  run(2s);  // it has heard nothing for two thirds of the session timeout
  CHECK(error_of(created) == Error::operation_timeout);
  CHECK(client.state() == ConnectionState::suspended);
  ensemble.release_replies();
  run(2s);
  CHECK(client.state() == ConnectionState::reconnected);
  CHECK(ensemble.counters().sessions_expired == 0);
}

TEST_CASE_METHOD(Fixture, "pings keep a session for days, and a pause of the process loses it") {
  const std::int64_t id = session().id();
  run(24h * 3);
  CHECK(ensemble.is_alive(id));
  CHECK(ensemble.counters().pings > 70'000);
  clock.advance(15s);
  run(1s);
  CHECK_FALSE(ensemble.is_alive(id));
  CHECK(ensemble.counters().sessions_expired == 1);
  CHECK(session().id() != id);
}

TEST_CASE_METHOD(Fixture, "a session that cannot be reached ends on a tick after its timeout, also for the client") {
  const Session before = session();
  create("/e", CreateMode::ephemeral);
  run_ready();
  ensemble.refuse_connections();
  ensemble.cut_all();
  run(8s);
  CHECK(before.state() == SessionState::suspended);
  CHECK(exists("/e"));
  run(4s);
  CHECK(before.state() == SessionState::expired);
  CHECK_FALSE(exists("/e"));
}

TEST_CASE_METHOD(Fixture, "latency is one way and by the clock") {
  ensemble.set_latency(30ms);
  const auto created = create("/x");
  run(29ms);
  CHECK_FALSE(exists("/x"));
  run(1ms);
  CHECK(exists("/x"));
  run(29ms);
  CHECK_FALSE(created->has_value());
  run(1ms);
  CHECK_FALSE(error_of(created));
}

TEST_CASE_METHOD(SlowWrites,
                 "a fake ensemble does one write after the other, and a session's reads wait for its writes") {
  Client& other = simulation.client("b");
  run(1s);
  const auto first = create("/x");
  const auto second = start<CreateResult>(
      [&](auto token) { other.session().async_create("/y", "", CreateMode::persistent, std::move(token)); });
  const auto read = start<std::optional<Stat>>([&](auto token) { session().async_exists("/x", std::move(token)); });
  const auto other_read =
      start<std::optional<Stat>>([&](auto token) { other.session().async_exists("/x", std::move(token)); });
  run(9ms);
  CHECK_FALSE(exists("/x"));
  CHECK_FALSE(read->has_value());
  run(1ms);
  CHECK(exists("/x"));
  CHECK_FALSE(exists("/y"));
  CHECK_FALSE(error_of(first));
  CHECK(std::get<1>(read->value()).has_value());
  run(9ms);
  CHECK_FALSE(second->has_value());
  CHECK_FALSE(other_read->has_value());
  run(1ms);
  CHECK_FALSE(error_of(second));
  CHECK(other_read->has_value());
  run(1s);
  const auto later = create("/z");
  run(9ms);
  CHECK_FALSE(later->has_value());
  run(1ms);
  CHECK_FALSE(error_of(later));
}

TEST_CASE_METHOD(Fixture, "a session that its client has given up is closed as soon as a server can be reached") {
  const std::int64_t lost = session().id();
  create("/e", CreateMode::ephemeral);
  run_ready();
  // The ensemble hears the client, but the client does not hear the ensemble: they disagree on whether the session
  // lives.
  ensemble.hold_all_replies();
  run(10s + 1ms);
  CHECK(client.state() == ConnectionState::lost);
  CHECK(ensemble.is_alive(lost));
  CHECK(exists("/e"));
  ensemble.heal();
  run(1s);
  CHECK_FALSE(ensemble.is_alive(lost));
  CHECK_FALSE(exists("/e"));
}

TEST_CASE_METHOD(Fixture, "a client that closes tells the ensemble, and waits no longer than its limit") {
  const std::int64_t id = session().id();
  SECTION("it is told") {}
  SECTION("it cannot answer") { ensemble.hold_all_replies(); }
  const auto closed = start<>([&](auto token) { client.async_close(std::move(token)); });
  run(5s);
  CHECK_FALSE(error_of(closed));
  CHECK_FALSE(ensemble.is_alive(id));
}

TEST_CASE_METHOD(Fixture, "wrong credentials end the client") {
  Client& other = simulation.client("b", {.auth = {{"nonsense", "x"}}});
  const auto connected = start<Session>([&](auto token) { other.async_session(std::move(token)); });
  run(1s);
  CHECK(other.state() == ConnectionState::lost);
  CHECK((connected->has_value()));
}

TEST_CASE("a client on its own thread uses a fake ensemble in real time") {
  FakeEnsemble ensemble;
  const Client client = ensemble.make_client({.session_timeout = 2s});
  REQUIRE(client.wait_connected(10s));
  std::promise<error_code> created;
  client.session().async_create("/x", "", CreateMode::ephemeral,
                                [&](error_code error, const CreateResult&) { created.set_value(error); });
  CHECK_FALSE(created.get_future().get());
  CHECK(ensemble.nodes().size() == 2);
  CHECK(ensemble.sessions().front().connected);
}

TEST_CASE("clients may outlive their ensemble") {
  auto ensemble = std::make_unique<FakeEnsemble>();
  const Client client = ensemble->make_client();
  REQUIRE(client.wait_connected(10s));
  ensemble.reset();
  std::promise<error_code> read;
  client.session().async_get_data("/", [&](error_code error, const DataResult&) { read.set_value(error); });
  CHECK(is_retryable(read.get_future().get()));
}
