// What counts as contact with the servers, and what keeps an idle session alive.
#include "support/catch.hpp"
#include "support/exploration.hpp"

#include <zklock/recipes/locks/inter_process_mutex.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>

#include <algorithm>
#include <vector>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;
using zklock::test::pause;

namespace {

asio::awaitable<Watch> watch_of(Session session, std::string path) {
  auto [error, stat, watch] = co_await session.async_exists_and_watch(path, asio::as_tuple(asio::deferred));
  CHECK_FALSE(error);
  co_return std::move(watch);
}

Clock::duration silence(const Client& client) { return Clock::now() - *client.health().sessions.at(0).last_contact; }

/// A client with this session timeout, whose session must outlive the body.
void play(std::chrono::milliseconds timeout, const std::function<asio::awaitable<void>(const Client&)>& body) {
  Simulation simulation{1, {.latency = 1ms}};
  simulation.actor([&]() -> asio::awaitable<void> {
    const Client& client = simulation.client("a", {.session_timeout = timeout});
    co_await pause(100ms);
    const std::int64_t id = client.session().id();
    co_await body(client);
    CHECK(client.session().id() == id);
    CHECK(client.state() == ConnectionState::connected);
    CHECK(simulation.ensemble().counters().sessions_expired == 0);
    CHECK(simulation.ensemble().counters().connections == 1);
  });
  simulation.run();
  INFO((simulation.failures().empty() ? std::string{} : simulation.failures().front()));
  CHECK(simulation.failures().empty());
}

/// Sets watches, and gives one up after the other.
asio::awaitable<void> give_up_watches(const Client& client, std::chrono::milliseconds pace, int count) {
  std::vector<Watch> watches;
  for (int i = 0; i < count; ++i) watches.push_back(co_await watch_of(client.session(), "/a" + std::to_string(i)));
  while (!watches.empty()) {
    watches.pop_back();
    co_await pause(pace);
    CHECK(silence(client) <= pace + 10ms);
  }
}

}  // namespace

TEST_CASE("a session of which nothing is asked but to give watches up lives on") {
  play(3s, [](const Client& client) { return give_up_watches(client, 250ms, 120); });
  play(6s, [](const Client& client) { return give_up_watches(client, 1'200ms, 60); });
}

TEST_CASE("an idle client hears of its servers three times in each session timeout") {
  play(6s, [](const Client& client) -> asio::awaitable<void> {
    for (int i = 0; i < 2'000; ++i) {
      co_await pause(100ms);
      if (silence(client) > 2s) FAIL_CHECK(i);
    }
  });
}

TEST_CASE(
    "requests that come just before a heartbeat is due, and watches given up, leave the next heartbeats their "
    "times") {
  const auto early = GENERATE(0ms, 1ms, 2ms, 3ms, 10ms, 250ms);
  CAPTURE(early.count());
  play(6s, [early](const Client& client) -> asio::awaitable<void> {
    for (int round = 0; round < 2; ++round) {
      for (const auto at : {1s, 2s, 3s}) {
        Watch watch = co_await watch_of(client.session(), "/a");
        co_await pause(at - early);
        watch = {};
      }
      co_await client.session().async_exists("/a", asio::as_tuple(asio::deferred));
    }
    for (int i = 0; i < 600; ++i) {
      co_await pause(100ms);
      if (silence(client) > 2s) FAIL_CHECK(i);
    }
  });
}

// ---- what does not count as contact

namespace {

/// A client that takes and gives back a lock.
asio::awaitable<void> use_lock(Client& client, bool& done) {
  const InterProcessMutex mutex{client, "/lock"};
  auto [error, lease] = co_await mutex.async_acquire(asio::as_tuple(asio::deferred));
  CHECK_FALSE(error);
  const auto [not_released] = co_await lease.async_release(asio::as_tuple(asio::deferred));
  CHECK_FALSE(not_released);
  done = true;
}

}  // namespace

TEST_CASE("a client outlives an ensemble that lies at any step, once or twice") {
  const int times = GENERATE(1, 2, 5);
  std::uint64_t steps = 1;
  for (std::uint64_t step = 1; step <= steps; ++step)
    for (const bool applied : {false, true}) {
      CAPTURE(times, step, applied);
      Simulation simulation{1, {.latency = 1ms}};
      bool done = false;
      simulation.ensemble().on_call([&, left = times](const FakeCall& call) mutable {
        if (!done) steps = std::max(steps, std::min<std::uint64_t>(call.number, 30));
        return call.number >= step && call.applied == applied && left-- > 0 ? FakeFault::lie : FakeFault::none;
      });
      simulation.actor([&] { return use_lock(simulation.client("a", {.session_timeout = 10s}), done); });
      simulation.run();
      CHECK(done);
      CHECK(simulation.failures().empty());
    }
}

TEST_CASE("an ensemble that makes sessions and answers nothing is asked for them more and more seldom") {
  const auto fault = GENERATE(FakeFault::cut, FakeFault::lie, FakeFault::expire);
  CAPTURE(static_cast<int>(fault));
  Simulation simulation{1, {.latency = 1ms}};
  FakeEnsemble& ensemble = simulation.ensemble();
  const auto answers_nothing = [fault](const FakeCall& call) {
    return call.operation == "connect" && call.applied ? FakeFault::none : fault;
  };
  const auto connections_in = [&](Clock::duration time) {
    const auto before = ensemble.counters().calls;
    simulation.clock().run_for(simulation.context(), time);
    return ensemble.counters().calls - before;
  };
  Client& client = simulation.client("a", {.session_timeout = 10s, .retry = RetryForever{10ms}});
  static_cast<void>(connections_in(1s));
  ensemble.on_call(answers_nothing);
  client.async_create("/a", "", CreateMode::persistent, [](error_code, const CreateResult&) {});
  static_cast<void>(connections_in(10s));
  CHECK(connections_in(100s) <= 450);  // a connection and a request each 0.5 to 1 s
  while (client.connection_trouble().empty()) static_cast<void>(connections_in(10ms));
  const std::string trouble = client.connection_trouble();
  CAPTURE(trouble);
  CHECK(std::stod(trouble.substr(trouble.find(" for ") + 5)) > 50);
  ensemble.on_call({});
  static_cast<void>(connections_in(2s));
  CHECK(client.state() == ConnectionState::reconnected);
  client.async_create("/b", "", CreateMode::persistent, [](error_code, const CreateResult&) {});
  static_cast<void>(connections_in(1s));
  CHECK(ensemble.nodes().back().path == "/b");
}
