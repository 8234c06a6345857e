// Creates of a kept node that are lost: the servers may carry them out late, or not at all.
#include "kept_node_scenario.hpp"

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;
using test::play;
using test::until;

namespace {

const std::string path = "/services/shop/a";

/// Loses the first create of a node in the directory, as if a leader made it late; or its reply alone, if it `is_done`.
/// Returns the path that it was for.
std::shared_ptr<std::string> lose_a_create(Simulation& simulation, bool is_done = false) {
  const auto lost = std::make_shared<std::string>();
  simulation.ensemble().on_call([lost, is_done](const FakeCall& call) {
    if (call.operation != "create" || !call.path.starts_with("/services/shop/") || !lost->empty() ||
        call.applied != is_done)
      return FakeFault::none;
    *lost = call.path;
    return FakeFault::cut;
  });
  return lost;
}

/// The servers carry a create out that the client has given up for lost.
asio::awaitable<void> make_late_node(Simulation& simulation, std::string lost, CreateMode mode) {
  const Session session = simulation.client("a").session();
  const NodeOptions options{mode};
  co_await session.async_create(std::move(lost), "data", options);
}

/// A directory that stays.
asio::awaitable<void> make_directory(Simulation& simulation) {
  CreateOptions with_parents;
  with_parents.creating_parents();
  co_await simulation.client("operator", test::patient).async_create("/services/shop", "", with_parents);
  co_await test::pause(100ms);
}

}  // namespace

TEST_CASE("a node that the servers make late is deleted, whether its object is closed by then or not") {
  for (const auto& [mode, protection] :
       {std::pair{CreateMode::ephemeral, NodeProtection::off}, std::pair{CreateMode::ephemeral, NodeProtection::on},
        std::pair{CreateMode::ephemeral_sequential, NodeProtection::off},
        std::pair{CreateMode::ephemeral_sequential, NodeProtection::on}}) {
    for (const bool is_closed : {true, false}) {
      if (!is_closed && !is_sequential(mode)) continue;  // the name is taken
      play({.latency = 1ms},
           [mode = mode, protection = protection, is_closed](Simulation& simulation) -> asio::awaitable<void> {
             co_await make_directory(simulation);
             const auto lost = lose_a_create(simulation);
             PersistentNodeOptions options;
             options.mode = mode;
             options.protection = protection;
             test::Kept kept{simulation, "a", path, "data", options};
             co_await kept.wait_present();
             CHECK_FALSE(lost->empty());
             if (!is_closed) co_await make_late_node(simulation, *lost, mode);
             CHECK(test::nodes_in(simulation, "/services/shop").size() == (is_closed ? 1 : 2));
             co_await kept.close();
             if (is_closed) co_await make_late_node(simulation, *lost, mode);
             CHECK(test::nodes_in(simulation, "/services/shop").size() == 1);
             co_await test::pause(10s);
             CHECK(test::nodes_in(simulation, "/services/shop").empty());
             CHECK(simulation.client("a").session().state() == SessionState::connected);
           });
    }
  }
}

TEST_CASE("a late sequential node is known by the data of its own create") {
  play({.latency = 1ms}, [](Simulation& simulation) -> asio::awaitable<void> {
    co_await make_directory(simulation);
    const auto lost = lose_a_create(simulation);
    PersistentNodeOptions options;
    options.mode = CreateMode::ephemeral_sequential;
    test::Kept kept{simulation, "a", path, "data", options};
    while (lost->empty()) co_await test::pause(1ms);
    kept.node().async_set_data("next", [](error_code) {});
    co_await kept.wait_present();
    co_await kept.close();
    co_await make_late_node(simulation, *lost, options.mode);
    CHECK(test::nodes_in(simulation, "/services/shop").size() == 1);
    co_await test::pause(10s);
    CHECK(test::nodes_in(simulation, "/services/shop").empty());
  });
}

TEST_CASE("a late sequential node is deleted, too, when the server's numbers have become negative") {
  for (const std::string number : {"-2147483648", "-000000001"}) {
    play({.latency = 1ms}, [&number](Simulation& simulation) -> asio::awaitable<void> {
      co_await make_directory(simulation);
      const auto lost = lose_a_create(simulation);
      PersistentNodeOptions options;
      options.mode = CreateMode::ephemeral_sequential;
      test::Kept kept{simulation, "a", path, "data", options};
      co_await kept.wait_present();
      co_await kept.close();
      co_await make_late_node(simulation, *lost + number, CreateMode::ephemeral);
      co_await make_late_node(simulation, *lost + "-0000000001", CreateMode::ephemeral);  // as no server writes it
      co_await test::pause(10s);
      const auto nodes = test::nodes_in(simulation, "/services/shop");
      REQUIRE(nodes.size() == 1);
      CHECK(nodes.front().path == *lost + "-0000000001");
      simulation.ensemble().remove(nodes.front().path);
    });
  }
}

TEST_CASE("once no create can come late any more, a node that the program makes at the path stays") {
  for (const CreateMode mode : {CreateMode::ephemeral, CreateMode::ephemeral_sequential}) {
    for (const bool is_done : {true, false}) {
      play({.latency = 1ms}, [mode, is_done](Simulation& simulation) -> asio::awaitable<void> {
        co_await make_directory(simulation);
        const auto lost = lose_a_create(simulation, is_done);
        PersistentNodeOptions options;
        options.mode = mode;
        test::Kept kept{simulation, "a", path, "data", options};
        co_await kept.wait_present();
        CHECK(*lost == path);
        if (!is_done) co_await test::pause(2 * test::patient.session_timeout);
        co_await kept.close();
        co_await make_late_node(simulation, path, mode);  // no late one, but the program's own
        co_await test::pause(20s);
        CHECK(test::nodes_in(simulation, "/services/shop").size() == 1);
        for (const FakeNode& each : test::nodes_in(simulation, "/services/shop"))
          simulation.ensemble().remove(each.path);
      });
    }
  }
}

TEST_CASE("a late node that another object of the client has taken stays") {
  play({.latency = 1ms}, [](Simulation& simulation) -> asio::awaitable<void> {
    const auto lost = lose_a_create(simulation);
    test::Kept first{simulation, "a", path, "data"};
    co_await first.wait_present();
    CHECK(*lost == path);
    co_await first.close();
    test::Kept second{simulation, "a", path, "data"};
    co_await second.wait_present();
    const std::int64_t czxid = second.node().state().czxid;
    co_await test::pause(30s);
    CHECK(second.node().state().czxid == czxid);
    co_await second.close();
  });
}
