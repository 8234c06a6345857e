// Events that arrive at once, or in an unexpected order. The numbers are those of docs/faults.md.
#include "runtime.hpp"
#include "session_keeper.hpp"
#include "support/catch.hpp"

#include <zklock/testing/simulation.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>

#include <memory>
#include <optional>
#include <vector>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

TEST_CASE("a watch event that arrives together with the reply that sets its watch is not lost") {  // [F18]
  Simulation simulation{1, {.latency = 1ms}};
  FakeEnsemble& ensemble = simulation.ensemble();
  const auto run = [&](Clock::duration wait) { simulation.clock().run_for(simulation.context(), wait); };
  const Client& client = simulation.client("a", {.session_timeout = 10s});
  run(1s);
  client.session().async_create("/holder", "", CreateMode::persistent, [](error_code, const CreateResult&) {});
  run(1s);

  // The node is deleted as soon as the watch on it is set: reply and event arrive in one packet.
  int watches_set = 0;
  ensemble.on_call([&](const FakeCall& call) {
    if (call.applied && call.operation == "get_children" && ++watches_set == 1)
      asio::post(simulation.executor(), [&ensemble] { ensemble.remove("/holder"); });
    return FakeFault::none;
  });
  Watch watch;
  client.session().async_get_children_and_watch(
      "/holder", asio::bind_executor(simulation.executor(),
                                     [&](error_code, const ChildrenResult&, Watch set) { watch = std::move(set); }));
  run(1s);
  CHECK(watches_set == 1);

  // No waiter has waited until now.
  std::optional<WatchEvent> seen;
  watch.async_wait(asio::bind_executor(simulation.executor(), [&](error_code error, const WatchEvent& event) {
    if (!error) seen = event;
  }));
  run(1s);
  REQUIRE(seen);
  CHECK(seen->type == WatchEventType::node_deleted);
}

TEST_CASE("a cancellation that comes when its wait for a watch is over, or was refused, ends no other wait") {
  Simulation simulation;
  const auto run = [&](Clock::duration wait) { simulation.clock().run_for(simulation.context(), wait); };
  const Client& client = simulation.client("a", {.session_timeout = 10s});
  run(1s);
  client.session().async_create("/node", "", CreateMode::persistent, [](error_code, const CreateResult&) {});
  Watch watch;
  client.session().async_get_data_and_watch(
      "/node", asio::bind_executor(simulation.executor(),
                                   [&](error_code, const DataResult&, Watch set) { watch = std::move(set); }));
  run(1s);
  REQUIRE(watch.is_set());

  asio::cancellation_signal over, refused, in_time;
  const auto wait = [&](asio::cancellation_signal& signal) {
    auto ended = std::make_shared<std::optional<error_code>>();
    watch.async_wait(asio::bind_cancellation_slot(
        signal.slot(),
        asio::bind_executor(simulation.executor(), [ended](error_code error, const WatchEvent&) { *ended = error; })));
    run(0s);
    return ended;
  };
  const auto first = wait(over);
  over.emit(asio::cancellation_type::total);
  run(0s);
  CHECK(*first == asio::error::operation_aborted);
  const auto second = wait(in_time);
  CHECK(*wait(refused) == Error::invalid_state);
  for (asio::cancellation_signal* each : {&over, &refused}) {
    each->emit(asio::cancellation_type::total);
    run(0s);
    CHECK_FALSE(*second);
  }
  in_time.emit(asio::cancellation_type::total);
  run(0s);
  CHECK(*second == asio::error::operation_aborted);
}

TEST_CASE("a listener that is told of a state finds it in the client and in its session") {  // [F41]
  using enum ConnectionState;
  struct Told {
    ConnectionState state;
    ConnectionState clients;
    SessionState sessions;
  };
  Simulation simulation;
  const auto run = [&](Clock::duration wait) { simulation.clock().run_for(simulation.context(), wait); };
  std::vector<Told> told;
  std::shared_ptr<detail::SessionKeeper> keeper;
  const detail::SessionKeeper::Config config{
      detail::SessionConfig{.timeout = 10s, .max_buffer = 1'000'000, .acl_provider = {}, .logger = {}},
      DriverOptions{.servers = {}, .session_timeout = 10s}, simulation.ensemble().driver_factory(), "nowhere",
      simulation.executor()};
  keeper = std::make_shared<detail::SessionKeeper>(
      std::make_shared<Runtime>(simulation.executor()), config, [&](ConnectionState state) {
        told.push_back({state, keeper->state(), keeper->session("").state()});
      });
  keeper->set_servers({simulation.ensemble().connect_string()});
  run(1s);
  simulation.ensemble().cut_all();
  run(1s);
  simulation.ensemble().expire(keeper->session("").id());
  run(1s);
  keeper->close(CloseMode::graceful, [] {});
  run(1s);

  const std::vector<Told> expected{{connected, connected, SessionState::connected},
                                   {suspended, suspended, SessionState::suspended},
                                   {reconnected, reconnected, SessionState::connected},
                                   {suspended, suspended, SessionState::suspended},
                                   {lost, lost, SessionState::connecting},  // the next session
                                   {reconnected, reconnected, SessionState::connected},
                                   {closed, closed, SessionState::closed}};
  REQUIRE(told.size() == expected.size());
  for (std::size_t i = 0; i < told.size(); ++i) {
    CAPTURE(i);
    CHECK(told[i].state == expected[i].state);
    CHECK(told[i].clients == expected[i].clients);
    CHECK(told[i].sessions == expected[i].sessions);
  }
  keeper.reset();
  run(0s);
}
