// A node with a time to live on a fake ensemble: when its child is touched.
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
