// DistributedBarrier under every fault at every step.
#include "support/catch.hpp"
#include "support/exploration.hpp"

#include <zklock/recipes/barriers/distributed_barrier.hpp>

#include <algorithm>
#include <memory>
#include <string>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

const ClientConfig patient{.session_timeout = 10s, .retry = ExponentialBackoffRetry{20ms, 8}};
const std::string path = "/barriers/start";

/// The czxid of the barrier's node; 0: there is none.
std::int64_t incarnation(const Simulation& simulation) {
  const auto nodes = simulation.ensemble().nodes();
  const auto found = std::ranges::find(nodes, path, &FakeNode::path);
  return found == nodes.end() ? 0 : found->stat.czxid;
}

asio::awaitable<void> set(Simulation& simulation) {
  const DistributedBarrier barrier{simulation.client("a", patient), path};
  auto setting = simulation.operation<>("a", {.name = "set"}, [&](auto token) { barrier.async_set(std::move(token)); });
  const auto [error] = co_await std::move(setting);
  if (!error && !simulation.has_operator_deleted() && incarnation(simulation) == 0)
    simulation.fail("the barrier is said to be closed, and is open");
}

asio::awaitable<void> remove(Simulation& simulation) {
  const DistributedBarrier barrier{simulation.client("a", patient), path};
  auto removing =
      simulation.operation<>("a", {.name = "remove"}, [&](auto token) { barrier.async_remove(std::move(token)); });
  const auto [error] = co_await std::move(removing);
  if (!error && incarnation(simulation) != 0) simulation.fail("the barrier is said to be open, and is closed");
}

/// No wait ends while the barrier stands that stood when it began, and none lasts for a minute when it is gone. (A
/// process that was paused for so long has no time left.)
asio::awaitable<void> wait(Simulation& simulation, std::string name) {
  const DistributedBarrier barrier{simulation.client(name, patient), path};
  const std::int64_t before = incarnation(simulation);
  const Clock::time_point began = Clock::now();
  auto waiting =
      simulation.operation<>(name, {.name = "wait"}, [&](auto token) { barrier.async_wait(60s, std::move(token)); });
  const auto [error] = co_await std::move(waiting);
  if (error == Error::timed_out && incarnation(simulation) == 0 && simulation.woke() < began)
    simulation.fail(name + " still waits at a barrier that is open");
  if (!error && before != 0 && incarnation(simulation) == before)
    simulation.fail(name + " walks through a barrier that is closed");
}

asio::awaitable<void> close_and_open(Simulation& simulation) {
  co_await set(simulation);
  co_await test::pause(2s);
  co_await remove(simulation);
}

asio::awaitable<void> come_later(Simulation& simulation, std::string name, std::chrono::milliseconds later) {
  co_await test::pause(later);
  co_await wait(simulation, std::move(name));
}

void closes_and_opens(Simulation& simulation) {
  simulation.invariant("idle clients watch nothing",
                       [&simulation] { return test::idle_clients_watch_nothing(simulation); });
  simulation.actor([&simulation] { return close_and_open(simulation); });
  for (const auto& [name, later] : {std::pair{"b", 0ms}, std::pair{"c", 500ms}})
    simulation.actor(
        [&simulation, name = std::string{name}, later = later] { return come_later(simulation, name, later); });
}

}  // namespace

TEST_CASE("no wait at a barrier ends while it is closed, and none lasts when it is open, whatever fails") {
  test::check_exploration(closes_and_opens, 500);
}

TEST_CASE("a wait at a barrier that an operator deletes ends") {
  test::check_exploration(closes_and_opens, 100, {.operator_deletes = path});
}
