// The events of kept nodes, and of what is followed, under every fault at every step.
#include "nodes/kept_node_scenario.hpp"

#include <zklock/recipes/caches/curator_cache.hpp>
#include <zklock/recipes/caches/follow_observer.hpp>
#include <zklock/recipes/caches/watching.hpp>
#include <zklock/recipes/nodes/group.hpp>
#include <zklock/recipes/nodes/node_observer.hpp>
#include <zklock/recipes/shared/shared_count.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

/// The states of each object, as they are told: from the first one, told twice, to the last one, without a gap.
template <class State>
class Chains {
 public:
  Chains(State first, State last) : first_{first}, last_{last} {}

  void add(std::uint64_t number, State before, State state) {
    const auto [known, is_new] = states_.try_emplace(number, first_);
    const bool fits = is_new ? before == first_ && state == first_ : before == known->second && before != last_;
    are_whole_ = are_whole_ && fits;
    known->second = state;
  }
  [[nodiscard]] bool are_whole() const { return are_whole_; }
  /// There are so many, and each has ended.
  [[nodiscard]] bool have_ended(std::size_t number) const {
    return states_.size() == number &&
           std::ranges::all_of(states_, [this](const auto& each) { return each.second == last_; });
  }
  /// All of them are in this state.
  [[nodiscard]] bool are(State state) const {
    return std::ranges::all_of(states_, [state](const auto& each) { return each.second == state; });
  }

 private:
  State first_;
  State last_;
  std::map<std::uint64_t, State> states_;
  bool are_whole_ = true;
};

struct Books : Observer, NodeObserver, FollowObserver {
  bool is_closing = false;
  Chains<NodePhase> nodes{NodePhase::absent, NodePhase::ended};
  Chains<Freshness::State> followed{Freshness::State::loading, Freshness::State::gone};

  void on_node(const NodeEvent& event) override { nodes.add(event.number, event.before.phase, event.state.phase); }
  void on_follow(const FollowEvent& event) override { followed.add(event.number, event.before, event.state); }
};

ClientConfig observed(const std::shared_ptr<Books>& books) {
  ClientConfig config = test::patient;
  config.observers = {books};
  return config;
}

asio::awaitable<void> keep(Simulation& simulation, std::shared_ptr<Books> books) {
  auto kept =
      std::make_shared<test::Kept>(simulation, "a", "/services/a", "one", PersistentNodeOptions{}, observed(books));
  simulation.invariant("what was told last is what is shown", [weak = std::weak_ptr{kept}, books] {
    const auto alive = weak.lock();
    return !alive || books->is_closing || books->nodes.are(alive->node().state().phase);
  });
  co_await kept->wait_present();
  co_await kept->set("two");
  co_await test::pause(1s);
  books->is_closing = true;
  co_await kept->close();
}

asio::awaitable<void> follow(Simulation& simulation, std::shared_ptr<Books> books) {
  const Client& reader = simulation.client("reader", observed(books));
  const Client& writer = simulation.client("writer", test::patient);
  const CuratorCache cache{reader, "/app"};
  const Group group{reader, "/members"};
  const DataWatch watch = watch_data(reader, "/app");
  const auto values = SharedCount{reader, "/count", 0}.values();
  const auto options = CreateOptions{CreateMode::persistent}.creating_parents().idempotent();
  static const std::vector<std::string> nodes{"/app/a", "/members/a", "/app/b"};
  for (const std::string& node : nodes) {
    auto writing = simulation.operation<CreateResult>(
        "writer", {.name = "create"}, [&](auto token) { writer.async_create(node, "", options, std::move(token)); });
    static_cast<void>(co_await std::move(writing));
    co_await test::pause(500ms);
  }
}

}  // namespace

TEST_CASE("events of a kept node are a chain, whatever fails") {
  const auto scenario = [](Simulation& simulation) {
    const auto books = std::make_shared<Books>();
    simulation.invariant("no event is missing", [books] { return books->nodes.are_whole(); });
    simulation.at_the_end("the chain has its end", [books] { return books->nodes.have_ended(1); });
    simulation.actor([&simulation, books] { return keep(simulation, books); });
  };
  test::check_exploration(scenario, 100);
  test::check_exploration(scenario, 50, {.operator_deletes = "/services"});
}

TEST_CASE("events of what is followed are a chain, whatever fails") {
  test::check_exploration(
      [](Simulation& simulation) {
        const auto books = std::make_shared<Books>();
        simulation.invariant("no event is missing", [books] { return books->followed.are_whole(); });
        simulation.at_the_end("each chain has its end", [books] { return books->followed.have_ended(4); });
        simulation.actor([&simulation, books] { return follow(simulation, books); });
      },
      100);
}
