// Servers that demand credentials, and a client that has none.
#include "support/catch.hpp"
#include "support/exploration.hpp"

#include <zklock/recipes/caches/watching.hpp>
#include <zklock/recipes/leader/leader_latch.hpp>
#include <zklock/recipes/locks/inter_process_mutex.hpp>
#include <zklock/recipes/locks/inter_process_semaphore.hpp>
#include <zklock/recipes/nodes/persistent_node.hpp>

#include <boost/asio/bind_executor.hpp>

#include <optional>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

struct Fixture {
  Simulation simulation{1, {.latency = 1ms, .demands_credentials = true}};
  Client& client = simulation.client("a", {.session_timeout = 10s});

  void run(Clock::duration wait) { simulation.clock().run_for(simulation.context(), wait); }
  /// How an operation of any results ends.
  template <class Start>
  std::shared_ptr<std::optional<error_code>> outcome_of(Start start) {
    auto outcome = std::make_shared<std::optional<error_code>>();
    start(
        asio::bind_executor(simulation.executor(), [outcome](error_code error, const auto&...) { *outcome = error; }));
    return outcome;
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a client that the servers refuse for want of credentials is told so, whatever it does") {
  const bool is_refused_before = GENERATE(false, true);
  if (is_refused_before) run(1min);  // by the first heartbeat
  CHECK((client.state() == ConnectionState::lost) == is_refused_before);
  InterProcessMutex mutex{client, "/lock"};
  InterProcessSemaphore semaphore{client, "/semaphore", 2};
  LeaderLatch election{client, "/election"};
  PersistentNode node{client, "/node", ""};
  DataWatch watch = watch_data(client, "/data");
  const auto outcomes = {
      outcome_of([&](auto token) { mutex.async_acquire(std::move(token)); }),
      outcome_of([&](auto token) { mutex.async_acquire(5s, std::move(token)); }),
      outcome_of([&](auto token) { mutex.async_acquire(0s, std::move(token)); }),
      outcome_of([&](auto token) { semaphore.async_acquire(5s, std::move(token)); }),
      outcome_of([&](auto token) { election.async_lead(std::move(token)); }),
      outcome_of([&](auto token) { election.async_lead(5s, std::move(token)); }),
      outcome_of([&](auto token) { node.async_wait_present(std::move(token)); }),
      outcome_of([&](auto token) { watch.async_next(std::move(token)); }),
      outcome_of([&](auto token) { client.async_get_data("/data", std::move(token)); }),
      outcome_of(
          [&](auto token) { client.async_create("/a/b", "", CreateOptions{}.creating_parents(), std::move(token)); }),
  };
  run(1s);
  int number = 0;
  for (const auto& outcome : outcomes) {
    CAPTURE(number++);
    REQUIRE(*outcome);
    CHECK(**outcome == Error::auth_failed);
  }
  CHECK(client.state() == ConnectionState::lost);
  CHECK(client.session().state() == SessionState::auth_failed);
  CHECK(node.state().error == Error::auth_failed);
  run(1h);
  CHECK(simulation.ensemble().counters().connections == 1);
  CHECK(simulation.ensemble().nodes().size() == 1);
}

TEST_CASE("credentials, right or wrong, are what servers demand that demand some") {
  Simulation simulation{1, {.demands_credentials = true}};
  simulation.actor([&]() -> asio::awaitable<void> {
    Client& client = simulation.client("a", {.session_timeout = 10s, .auth = {{"digest", "me:secret"}}});
    const auto [error, made] =
        co_await client.async_create("/a", "", CreateMode::persistent, asio::as_tuple(asio::deferred));
    CHECK_FALSE(error);
    co_await test::pause(60s);
    CHECK(client.state() == ConnectionState::connected);
  });
  simulation.run();
  CHECK(simulation.failures().empty());
}
