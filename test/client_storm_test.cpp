// Many who want to try again at once.
#include "support/catch.hpp"

#include <zklock/testing/simulation.hpp>

#include <boost/asio/bind_executor.hpp>

#include <vector>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

TEST_CASE("a crowd whose link was lost comes back no faster than the client allows, and all of it in the end") {
  constexpr int crowd = 500;
  constexpr int rate = 50;
  Simulation simulation;
  Client& client =
      simulation.client("a", {.session_timeout = 10s, .retry = RetryForever{1ms}, .max_retries_per_second = rate});
  const auto run = [&](Clock::duration wait) { simulation.clock().run_for(simulation.context(), wait); };
  run(1s);
  simulation.ensemble().hold_all_replies();
  int done = 0;
  int failed = 0;
  for (int i = 0; i < crowd; ++i)
    client.async_get_data("/", asio::bind_executor(simulation.executor(), [&](error_code error, const DataResult&) {
                            error ? ++failed : ++done;
                          }));
  run(100ms);
  std::vector<Clock::time_point> tries;
  simulation.ensemble().on_call([&](const FakeCall& call) {
    if (call.operation == "get_data" && !call.applied) tries.push_back(Clock::now());
    return FakeFault::none;
  });
  simulation.ensemble().release_replies();
  simulation.ensemble().cut_all();
  run(60s);
  CHECK(failed == 0);
  CHECK(done == crowd);
  REQUIRE(tries.size() >= crowd - 1);
  // In no second more than what was saved up and what comes in.
  for (std::size_t i = 2 * rate; i < tries.size(); ++i) CHECK(tries[i] - tries[i - 2 * rate] >= 1s);
}

TEST_CASE("also when it has waited for the connection for longer than all its turns take") {
  constexpr int crowd = 500;
  constexpr int rate = 50;
  Simulation simulation;
  Client& client = simulation.client("a", {.session_timeout = 10s,
                                           .connection_timeout = 1h,
                                           .operation_timeout = 1h,
                                           .retry = RetryNTimes{5, 1ms},
                                           .max_retries_per_second = rate});
  const auto run = [&](Clock::duration wait) { simulation.clock().run_for(simulation.context(), wait); };
  run(1s);
  simulation.ensemble().hold_all_replies();
  int done = 0;
  for (int i = 0; i < crowd; ++i)
    client.async_get_data("/", asio::bind_executor(simulation.executor(), [&](error_code error, const DataResult&) {
                            if (!error) ++done;
                          }));
  run(100ms);
  simulation.ensemble().refuse_connections();
  simulation.ensemble().cut_all();
  run(10min);
  std::vector<Clock::time_point> tries;
  simulation.ensemble().on_call([&](const FakeCall& call) {
    if (call.operation == "get_data" && !call.applied) tries.push_back(Clock::now());
    return FakeFault::none;
  });
  simulation.ensemble().release_replies();
  simulation.ensemble().accept_connections();
  run(60s);
  CHECK(done == crowd);
  REQUIRE(tries.size() >= crowd);
  for (std::size_t i = 2 * rate; i < tries.size(); ++i) CHECK(tries[i] - tries[i - 2 * rate] >= 1s);
}

TEST_CASE("what waits for the connection goes as soon as it is back") {
  constexpr int crowd = 50;
  Simulation simulation;
  Client& client = simulation.client("a", {.session_timeout = 10s, .retry = RetryNTimes{5, 1ms}});
  const auto run = [&](Clock::duration wait) { simulation.clock().run_for(simulation.context(), wait); };
  run(1s);
  int done = 0;
  const auto ask = [&] {
    client.async_get_data("/", asio::bind_executor(simulation.executor(), [&](error_code error, const DataResult&) {
                            if (!error) ++done;
                          }));
  };
  simulation.ensemble().hold_all_replies();
  for (int i = 0; i < crowd; ++i) ask();  // these are tried again
  run(100ms);
  simulation.ensemble().refuse_connections();
  simulation.ensemble().cut_all();
  run(2s);
  for (int i = 0; i < crowd; ++i) ask();  // these have not been tried yet
  run(2s);
  CHECK(done == 0);
  simulation.ensemble().release_replies();
  simulation.ensemble().accept_connections();
  while (client.state() != ConnectionState::connected && client.state() != ConnectionState::reconnected) run(1ms);
  run(5ms);
  CHECK(done == 2 * crowd);
}
