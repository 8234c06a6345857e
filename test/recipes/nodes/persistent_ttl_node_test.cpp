// A node with a time to live on a fake ensemble: when its child is touched, and what becomes of it under faults.
#include "kept_node_scenario.hpp"

#include <zklock/recipes/nodes/persistent_ttl_node.hpp>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

TEST_CASE("touches do not pile up while no server is there, and go on behind that") {
  Simulation simulation{1, {.latency = 1ms, .extended_types = true}};
  simulation.actor([&]() -> asio::awaitable<void> {
    const PersistentTtlNode node{simulation.client("a", test::patient), "/services/a", 4s, "data"};
    co_await node.async_wait_present();
    const auto touches = std::make_shared<int>(0);
    simulation.ensemble().on_call([touches](const FakeCall& call) {
      if (!call.applied && call.path == "/services/a/touch") ++*touches;
      return FakeFault::none;
    });
    co_await test::pause(20s);
    CHECK(*touches >= 9);  // every 2 s, the first time twice: to find that there is no child, and to create it
    CHECK(*touches <= 12);
    simulation.ensemble().refuse_connections();
    simulation.ensemble().cut_all();
    co_await test::pause(2min);
    *touches = 0;
    simulation.ensemble().accept_connections();
    co_await test::pause(10s);
    CHECK(*touches >= 1);
    CHECK(*touches <= 10);
    simulation.ensemble().on_call({});
    co_await node.async_close();
  });
  simulation.run();
  INFO((simulation.failures().empty() ? std::string{} : simulation.failures().front()));
  CHECK(simulation.failures().empty());
}

namespace {

const std::string path = "/services/a";

/// Longer than any fault keeps the client away, but for a pause of the process.
constexpr std::chrono::milliseconds ttl{30'000};

/// A node that is kept for several times its time to live stays the same one, and is left when its object is closed.
asio::awaitable<void> keep_touched(Simulation& simulation) {
  const Client& client = simulation.client("a", test::patient);
  const PersistentTtlNode node{client, path, ttl, "data"};
  auto waiting = simulation.operation<>("a", {.name = "wait_present"},
                                        [&](auto token) { node.async_wait_present(60s, std::move(token)); });
  const auto [not_present] = co_await std::move(waiting);
  const auto began = Clock::now();
  const auto first = test::find_node(simulation, path);
  if (not_present || !first) co_return;
  co_await test::pause(5 * ttl);
  auto closing =
      simulation.operation<>("a", {.name = "close"}, [&](auto token) { node.async_close(std::move(token)); });
  static_cast<void>(co_await std::move(closing));
  const bool was_kept = simulation.woke() < began && client.state() != ConnectionState::closed;
  if (!was_kept || simulation.has_operator_deleted()) co_return;
  const auto last = test::find_node(simulation, path);
  if (!last) co_return simulation.fail("a node that is touched is gone");
  if (last->stat.czxid != first->stat.czxid) simulation.fail("a node that is touched is another one");
  if (last->stat.mzxid != first->stat.mzxid) simulation.fail("a touch has written the node itself");
}

}  // namespace

TEST_CASE("a node with a time to live stays the same one while it is kept, whatever fails") {
  test::check_exploration([](Simulation& simulation) { simulation.actor([&] { return keep_touched(simulation); }); },
                          50, {.ensemble = {.latency = 1ms, .extended_types = true}});
}
