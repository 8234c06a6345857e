// Many operations that want to be tried again at once.
#include "support/catch.hpp"

#include <zklock/testing/simulation.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <algorithm>
#include <ctime>
#include <map>
#include <vector>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

TEST_CASE("a crowd whose link was lost is tried again no faster than the client allows, and all of it succeeds") {
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
  // No second has more tries than were saved up and become due in it.
  for (std::size_t i = 2 * rate; i < tries.size(); ++i) CHECK(tries[i] - tries[i - 2 * rate] >= 1s);
}

TEST_CASE("a crowd that has waited long for the connection is tried again no faster than the client allows") {
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

TEST_CASE("an operation that waits for the connection is sent as soon as it is back") {
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

namespace {

/// The outcomes of a crowd of reads, and their times.
struct Crowd {
  explicit Crowd(Simulation& s) : simulation{s} {}

  Simulation& simulation;
  std::map<error_code, int> ended{};
  std::vector<Clock::time_point> ends{};
  int done = 0;

  void read(const Client& client, int count) {
    for (int i = 0; i < count; ++i)
      client.async_get_data("/",
                            asio::bind_executor(simulation.executor(), [this](error_code error, const DataResult&) {
                              error ? ++ended[error] : ++done;
                              ends.push_back(Clock::now());
                            }));
  }
  void run(Clock::duration wait) { simulation.clock().run_for(simulation.context(), wait); }
};

/// The processor time of this thread, which other processes do not change.
std::chrono::nanoseconds cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

}  // namespace

TEST_CASE("one more operation that waits for a connection costs no more when thousands wait already") {
  Simulation simulation;
  simulation.ensemble().refuse_connections();
  const Client& client = simulation.client("a", {.session_timeout = 10s, .connection_timeout = 1h});
  Crowd crowd{simulation};
  const auto cost_of = [&](int count) {
    const auto before = cpu_time();
    crowd.read(client, count);
    simulation.context().poll();
    simulation.context().restart();
    return cpu_time() - before;
  };
  const auto least_cost = [&] { return std::min({cost_of(2'000), cost_of(2'000), cost_of(2'000)}); };
  static_cast<void>(cost_of(1'000));
  const auto first = least_cost();
  static_cast<void>(cost_of(16'000));
  const auto last = least_cost();
  CHECK(last < 3 * first);
}

TEST_CASE("a storm ends with its operations, and turns that no operation waits for delay no other operation") {
  constexpr int crowd_size = 6'000;
  constexpr int rate = 50;
  Simulation simulation;
  const Client& client = simulation.client(
      "a",
      {.session_timeout = 10s, .operation_timeout = 20s, .retry = RetryForever{1ms}, .max_retries_per_second = rate});
  Crowd crowd{simulation};
  crowd.run(1s);
  const auto cut_once = [&](int in_flight) {
    simulation.ensemble().hold_all_replies();
    crowd.read(client, in_flight);
    crowd.run(100ms);
    simulation.ensemble().release_replies();
    simulation.ensemble().cut_all();
  };
  cut_once(crowd_size);
  crowd.run(1s);
  // About a thousand retries get a turn before the deadline. The others fail at once, with the original error.
  CHECK(crowd.ends.size() > crowd_size - 1'200);
  CHECK(crowd.ended.count(Error::timed_out) == 0);
  crowd.run(21s);
  CHECK(crowd.ends.size() == crowd_size);
  CHECK(crowd.done > 900);
  CHECK(crowd.ended.count(Error::timed_out) == 0);
  Crowd later{simulation};
  const auto start = Clock::now();
  cut_once(1);
  simulation.ensemble().heal();
  later.read(client, 1);
  later.run(20s);
  CHECK(later.done == 1);
  CHECK(crowd.done + crowd.ended[Error::connection_loss] == crowd_size + 1);
  CHECK(crowd.ends.back() - start < 2s);
}

TEST_CASE("the turn of a cancelled retry goes to the next retry") {
  constexpr int rate = 50;
  Simulation simulation;
  const Client& client = simulation.client(
      "a",
      {.session_timeout = 10s, .retry = RetryForever{1ms}, .max_retries_per_second = rate, .reconnect_jitter = 0ms});
  Crowd crowd{simulation};
  crowd.run(1s);
  asio::cancellation_signal give_up[1'000];
  int given_up = 0;
  simulation.ensemble().hold_all_replies();
  for (auto& signal : give_up)
    client.async_get_data(
        "/", asio::bind_cancellation_slot(
                 signal.slot(), asio::bind_executor(simulation.executor(), [&](error_code error, const DataResult&) {
                   if (error == asio::error::operation_aborted) ++given_up;
                 })));
  const auto cut = [&] {
    crowd.run(100ms);
    simulation.ensemble().release_replies();
    simulation.ensemble().cut_all();
    crowd.run(100ms);
  };
  cut();
  constexpr int others = 20;  // enqueued behind them
  simulation.ensemble().hold_all_replies();
  crowd.read(client, others);
  cut();
  CHECK(crowd.done == 0);
  for (auto& signal : give_up) signal.emit(asio::cancellation_type::terminal);
  crowd.run(1s);
  CHECK(given_up > 800);
  CHECK(crowd.done == others);
}

TEST_CASE("the turn of a retry that is cancelled while it waits for a slot goes to the next retry") {
  Simulation simulation;
  const Client& client = simulation.client(
      "a", {.session_timeout = 10s, .retry = RetryForever{1s}, .max_retries_per_second = 1, .reconnect_jitter = 0ms});
  Crowd crowd{simulation};
  crowd.run(1s);
  asio::cancellation_signal give_up;
  error_code given_up;
  Crowd next{simulation};
  simulation.ensemble().hold_all_replies();
  client.async_get_data(
      "/", asio::bind_cancellation_slot(
               give_up.slot(), asio::bind_executor(simulation.executor(),
                                                   [&](error_code error, const DataResult&) { given_up = error; })));
  next.read(client, 1);
  crowd.run(100ms);
  simulation.ensemble().release_replies();
  simulation.ensemble().cut_all();
  crowd.run(500ms);
  simulation.ensemble().hold_all_replies();
  crowd.read(client, 2'000);  // these have all the slots
  crowd.run(600ms);           // one of the retries has the turn of this second
  give_up.emit(asio::cancellation_type::terminal);
  crowd.run(1ms);
  CHECK(given_up == asio::error::operation_aborted);
  CHECK(next.done == 0);
  simulation.ensemble().release_replies();
  crowd.run(100ms);
  CHECK(crowd.done == 2'000);
  CHECK(next.done == 1);
}
