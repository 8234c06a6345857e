// How long a new session is without its kept node, on a fake ensemble whose messages take their time.
#include "kept_node_scenario.hpp"

#include <functional>
#include <map>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

const std::string path = "/services/shop/a";
constexpr std::chrono::milliseconds one_way = 5ms;

/// When each kind of request came to the ensemble, the last time.
using Arrivals = std::map<std::string, Clock::time_point>;

struct Stage {
  Simulation simulation;
  Arrivals arrivals{};

  explicit Stage(std::chrono::milliseconds tick) : simulation{1, {.tick = tick, .latency = one_way}} {
    simulation.ensemble().on_call([this](const FakeCall& call) {
      const bool is_other = call.operation == "connect" && call.session != 0;  // to an old session, to end it
      if (!call.applied && !is_other) arrivals[std::string{call.operation}] = Clock::now();
      return FakeFault::none;
    });
  }
  void play(std::function<asio::awaitable<void>()> body) {
    simulation.actor(std::move(body));
    simulation.run();
    INFO((simulation.failures().empty() ? std::string{} : simulation.failures().front()));
    CHECK(simulation.failures().empty());
  }
  /// Flights from the moment when the client has a session to the moment when it has been told of its node.
  asio::awaitable<int> flights_until_present(const PersistentNode& node) {
    while (!node.is_present()) co_await test::pause(1ms);
    const Clock::time_point connected = arrivals.at("connect") + one_way;
    co_return static_cast<int>((Clock::now() - connected) / (2 * one_way));
  }
};

}  // namespace

TEST_CASE("a kept node is present one flight after each new session, 1,000 times") {
  Stage stage{500ms};
  stage.play([&]() -> asio::awaitable<void> {
    test::Kept neighbour{stage.simulation, "b", "/services/shop/b", "data"};  // so that the directory stays
    co_await neighbour.wait_present();
    test::Kept kept{stage.simulation, "a", path, "data"};
    co_await kept.wait_present();
    for (int i = 0; i < 1'000; ++i) {
      stage.simulation.ensemble().expire(stage.simulation.client("a").session().id());
      while (kept.node().is_present()) co_await test::pause(1ms);
      const int flights = co_await stage.flights_until_present(kept.node());
      REQUIRE(flights == 1);
      CHECK(stage.arrivals.at("create") == stage.arrivals.at("get_children"));
    }
    co_await kept.close();
    co_await neighbour.close();
  });
}

TEST_CASE("a kept node whose old node is in the way is present two flights after a new session") {
  Stage stage{4s};  // servers that end the old session late
  stage.play([&]() -> asio::awaitable<void> {
    test::Kept kept{stage.simulation, "a", path, "data"};
    co_await kept.wait_present();
    for (int i = 0; i < 8; ++i) {
      const std::int64_t lost = stage.simulation.client("a").session().id();
      stage.simulation.ensemble().refuse_connections();
      stage.simulation.ensemble().cut(lost);
      while (kept.node().state().phase != NodePhase::absent) co_await test::pause(20ms);
      stage.simulation.ensemble().accept_connections();
      const int flights = co_await stage.flights_until_present(kept.node());
      REQUIRE(flights == 2);
      CHECK(stage.arrivals.at("commit") == stage.arrivals.at("get_children"));
      while (stage.simulation.ensemble().is_alive(lost)) co_await test::pause(100ms);
    }
    co_await kept.close();
  });
}
