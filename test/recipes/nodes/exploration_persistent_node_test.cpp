// PersistentNode under every fault at every step.
#include "kept_node_scenario.hpp"

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

const std::string directory = "/services/shop";
const std::string path = directory + "/a";

struct Case {
  CreateMode mode = CreateMode::ephemeral;
  NodeProtection protection = NodeProtection::off;
};

/// Keeps a node for some seconds, and changes its data meanwhile.
asio::awaitable<void> keep(Simulation& simulation, PersistentNodeOptions options) {
  auto kept = std::make_shared<test::Kept>(simulation, "a", path, "one", options);
  simulation.invariant("a node is there that is shown as present", [weak = std::weak_ptr{kept}] {
    const auto alive = weak.lock();
    return !alive || alive->is_honest();
  });
  co_await kept->wait_present();
  co_await kept->set("two");
  co_await test::pause(1s);
  co_await kept->set("three");
  co_await kept->wait_present();
  co_await kept->close();
}

Scenario keeping(Case each) {
  return [each](Simulation& simulation) {
    PersistentNodeOptions options;
    options.mode = each.mode;
    options.protection = each.protection;
    simulation.invariant("there is one node, never two",
                         [&simulation] { return test::nodes_in(simulation, directory).size() <= 1; });
    // A client that is closed before its object cannot delete a persistent node any more.
    simulation.at_the_end("no node is left", [&simulation, mode = each.mode] {
      const bool is_closed = simulation.client("a").state() == ConnectionState::closed;
      return test::nodes_in(simulation, directory).empty() || (is_closed && !is_ephemeral(mode));
    });
    simulation.actor([&simulation, options] { return keep(simulation, options); });
  };
}

}  // namespace

TEST_CASE("an ephemeral node is kept, one and not two, whatever fails") {
  test::check_exploration(keeping({CreateMode::ephemeral}), 300);
  test::check_exploration(keeping({CreateMode::ephemeral, NodeProtection::on}), 100);
}

TEST_CASE("a sequential node is kept, one and not two, whatever fails") {
  test::check_exploration(keeping({CreateMode::ephemeral_sequential, NodeProtection::on}), 300);
  test::check_exploration(keeping({CreateMode::ephemeral_sequential}), 300);
}

TEST_CASE("a persistent node is kept, and goes when it is closed, whatever fails") {
  test::check_exploration(keeping({CreateMode::persistent}), 200);
}

namespace {

/// Closes while the create may be under way.
asio::awaitable<void> close_at_once(Simulation& simulation, std::chrono::milliseconds later) {
  PersistentNodeOptions options;
  options.mode = CreateMode::ephemeral_sequential;
  options.protection = NodeProtection::on;
  test::Kept kept{simulation, "a", path, "data", options};
  co_await test::pause(later);
  co_await kept.close();
}

}  // namespace

TEST_CASE("a sequential node that is closed while it is created leaves nothing, whatever fails") {
  for (const auto later : {6ms, 9ms})
    test::check_exploration(
        [later](Simulation& simulation) {
          simulation.actor([&simulation, later] { return close_at_once(simulation, later); });
        },
        50);
}

TEST_CASE("a kept node that an operator deletes, with its directory or alone, is created again") {
  test::check_exploration(keeping({CreateMode::ephemeral}), 200, {.operator_deletes = directory});
  test::check_exploration(keeping({CreateMode::ephemeral_sequential, NodeProtection::on}), 100,
                          {.operator_deletes = directory});
}

namespace {

/// Two clients want one path. The one that has it closes after some time; then the other one gets it.
asio::awaitable<void> take_turns(Simulation& simulation, std::string name, std::chrono::milliseconds later) {
  co_await test::pause(later);
  auto kept = std::make_shared<test::Kept>(simulation, name, path, name);
  simulation.invariant("a node is there that " + name + " shows as present", [weak = std::weak_ptr{kept}] {
    const auto alive = weak.lock();
    return !alive || alive->is_honest();
  });
  co_await kept->wait_present();
  co_await test::pause(500ms);
  co_await kept->close();
}

void share_a_path(Simulation& simulation) {
  for (const auto& [name, later] : {std::pair{"a", 0ms}, std::pair{"b", 100ms}})
    simulation.actor(
        [&simulation, name = std::string{name}, later = later] { return take_turns(simulation, name, later); });
}

}  // namespace

TEST_CASE("of two clients that want one path each has it in turn, whatever fails") {
  test::check_exploration(share_a_path, 300);
}
