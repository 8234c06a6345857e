// The operations of a Client under every fault at every step.
#include "support/catch.hpp"
#include "support/exploration.hpp"

#include <algorithm>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

ClientConfig patient() { return {.session_timeout = 10s, .retry = ExponentialBackoffRetry{20ms, 8}}; }

/// A closed client may leave what it was about to clean up.
bool is_open(Simulation& simulation, const std::string& name) {
  return simulation.client(name).state() != ConnectionState::closed;
}

/// Adds one to a number, with a version check. Counts the certain writes and the possible ones.
struct Counter {
  int done = 0;
  int ambiguous = 0;
};

asio::awaitable<void> add(Simulation& simulation, std::string name, int times, Counter& counter) {
  Client& client = simulation.client(name, patient());
  while (times > 0) {
    auto reading = simulation.operation<DataResult>(name, {.name = "get_data", .within = 60s}, [&](auto token) {
      client.async_get_data("/counter", std::move(token));
    });
    auto [unread, node] = co_await std::move(reading);
    if (unread) co_return;
    std::string next = std::to_string(std::stoi(node.data) + 1);
    auto writing = simulation.operation<Stat>(
        name, {.name = "set_data", .within = 60s}, [&, version = node.stat.version](auto token) {
          client.async_set_data("/counter", next, SetDataOptions{version}, std::move(token));
        });
    auto [error, stat] = co_await std::move(writing);
    if (error == Error::bad_version) continue;  // the other client was quicker
    if (error && outcome_of(error) == Outcome::not_applied) co_return;
    error ? ++counter.ambiguous : ++counter.done;
    --times;
  }
}

asio::awaitable<void> count_up(Simulation& simulation, Counter& counter) {
  Client& maker = simulation.client("maker", patient());
  const auto [error, made] =
      co_await maker.async_create("/counter", "0", CreateMode::persistent, asio::as_tuple(asio::deferred));
  if (error) co_return;
  for (const char* name : {"a", "b"})
    simulation.actor([&simulation, &counter, name] { return add(simulation, name, 2, counter); });
}

}  // namespace

TEST_CASE("a counter that checks versions counts every write once, whatever fails") {
  test::check_exploration(
      [](Simulation& simulation) {
        const auto counter = std::make_shared<Counter>();
        simulation.actor([&simulation, counter] { return count_up(simulation, *counter); });
        simulation.at_the_end("it counts what was done", [&simulation, counter] {
          for (const FakeNode& node : simulation.ensemble().nodes())
            if (node.path == "/counter") {
              const int value = std::stoi(node.data);
              return counter->done <= value && value <= counter->done + counter->ambiguous;
            }
          return true;
        });
      },
      500);
}

TEST_CASE("a guaranteed remove succeeds in the end, whatever fails") {
  test::check_exploration(
      [](Simulation& simulation) {
        simulation.actor([&simulation]() -> asio::awaitable<void> {
          Client& client = simulation.client("a", patient());
          const auto [error, made] =
              co_await client.async_create("/a", "", CreateMode::persistent, asio::as_tuple(asio::deferred));
          auto removing = simulation.operation<>("a", {.name = "remove", .within = 60s}, [&](auto token) {
            client.async_remove("/a", RemoveOptions{}.guaranteed(), std::move(token));
          });
          co_await std::move(removing);
        });
        simulation.at_the_end("the node is gone", [&simulation] {
          const auto nodes = simulation.ensemble().nodes();
          return !is_open(simulation, "a") ||
                 std::ranges::none_of(nodes, [](const FakeNode& node) { return node.path == "/a"; });
        });
      },
      500);
}
