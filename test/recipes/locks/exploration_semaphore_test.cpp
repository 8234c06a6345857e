// InterProcessSemaphore under every fault at every step.
#include "support/catch.hpp"
#include "support/exploration.hpp"

#include <zklock/recipes/locks/inter_process_semaphore.hpp>
#include <zklock/testing/exploration.hpp>

#include <map>
#include <memory>
#include <set>
#include <vector>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

const std::string directory = "/locks/seats";
const std::string count_node = "/counts/seats";

ClientConfig patient() { return {.session_timeout = 10s, .retry = ExponentialBackoffRetry{20ms, 8}}; }

/// Fails the simulation when more permits are given out than exist, by the ensemble's own state (as LockWatch), and
/// when there is a permit that was given to no client, unless it belongs to the first waiter in the queue.
class PermitWatch {
 public:
  PermitWatch(Simulation& simulation, std::int32_t permits) : simulation_{simulation}, permits_{permits} {}

  void raise(std::int32_t permits) { permits_ = permits; }
  void granted(const std::string& who, const std::vector<Lease>& leases) {
    for (const Lease& lease : leases) {
      given_.insert(lease.node_path());
      held_.insert(lease.node_path());
    }
    std::int32_t live = 0;  // nodes of ended sessions are gone, though their clients may be yet to hear of it
    for (const FakeNode& node : simulation_.ensemble().nodes()) live += held_.contains(node.path);
    if (live > permits_) simulation_.fail(who + " is given a permit too many");
  }
  void released(const std::vector<Lease>& leases) {
    for (const Lease& lease : leases) held_.erase(lease.node_path());
  }

  /// Only the holder of the mutex makes permits and takes them back. A former holder may do so, too, for a moment after
  /// an operator has deleted its node, until it hears of that or its session ends. This watch never sees a queue node
  /// that is deleted at once. For a session that it has not seen first in the wait queue, the moment therefore begins
  /// when the watch sees another node of that session.
  [[nodiscard]] bool only_the_first_in_line_tries() {
    constexpr Clock::duration a_moment = 12s;
    const auto nodes = simulation_.ensemble().nodes();
    const FakeNode* first = nullptr;
    for (const FakeNode& node : nodes)
      if (node.path.starts_with(directory + "/locks/") && (!first || node.stat.czxid < first->stat.czxid))
        first = &node;
    if (first) was_first_[first->stat.ephemeral_owner] = Clock::now();
    return std::ranges::all_of(nodes, [&](const FakeNode& node) {
      if (!node.path.starts_with(directory + "/leases/") || given_.contains(node.path)) return true;
      const std::int64_t owner = node.stat.ephemeral_owner;
      if (first && first->stat.ephemeral_owner == owner) return true;
      if (!simulation_.has_operator_deleted()) return false;
      const auto last = was_first_.emplace(owner, Clock::now()).first->second;
      return Clock::now() <= std::max(last, simulation_.woke()) + a_moment;
    });
  }

 private:
  Simulation& simulation_;
  std::int32_t permits_;
  std::set<std::string> given_;
  std::set<std::string> held_;
  std::map<std::int64_t, Clock::time_point> was_first_;  // when each session was last first in the wait queue
};

/// Takes permits, works for a while, and releases them.
struct Guest {
  std::string name;
  std::int32_t wants = 1;
  std::chrono::milliseconds comes_after{0};
  std::chrono::milliseconds works_for{1'000};
  enum class Limit { endless, limited, none } limit = Limit::endless;
};

struct Place {
  std::int32_t permits = 1;
  enum class Count { fixed, shared } count = Count::fixed;
  std::chrono::milliseconds raised_after{500};  ///< by one, if it is shared
};

InterProcessSemaphore semaphore_of(Client& client, Place place) {
  if (place.count == Place::Count::fixed) return {client, directory, place.permits};
  return {client, directory, SharedPermits{.path = count_node, .seed = place.permits}};
}

asio::awaitable<void> visit(Simulation& simulation, std::shared_ptr<PermitWatch> watch, Place place, Guest self) {
  co_await test::pause(self.comes_after);
  const InterProcessSemaphore semaphore = semaphore_of(simulation.client(self.name, patient()), place);
  const std::chrono::milliseconds wait = self.limit == Guest::Limit::limited ? 2s : 0s;
  const bool for_ever = self.limit == Guest::Limit::endless;
  // One try may still wait for a connection.
  const OperationTraits traits{"acquire", wait};
  auto acquiring = simulation.operation<std::vector<Lease>>(self.name, traits, [&](auto token) {
    if (for_ever) {
      semaphore.async_acquire_many(self.wants, std::move(token));
    } else {
      semaphore.async_acquire_many(self.wants, wait, std::move(token));
    }
  });
  auto [error, leases] = co_await std::move(acquiring);
  if (error == LockError::lock_lost) simulation.fail(self.name + " does not start over");
  if (leases.size() != (error ? 0 : static_cast<std::size_t>(self.wants)))
    simulation.fail(self.name + " is given a part of what it wants");
  if (error) co_return;
  watch->granted(self.name, leases);
  co_await test::pause(self.works_for);
  watch->released(leases);
  auto releasing =
      simulation.operation<>(self.name, {.name = "release", .can_be_cancelled = false},
                             [&lease = leases.front()](auto token) { lease.async_release(std::move(token)); });
  co_await std::move(releasing);  // the others are released in the background
}

Scenario scenario_of(const Place& place, const std::vector<Guest>& guests) {
  return [place, guests](Simulation& simulation) {
    const auto watch = std::make_shared<PermitWatch>(simulation, place.permits);
    simulation.invariant("idle clients watch nothing", [&simulation] {
      return test::idle_clients_watch_nothing(simulation, {directory + "/locks"});
    });
    simulation.invariant("only the holder of the mutex has nodes that are no permits",
                         [watch] { return watch->only_the_first_in_line_tries(); });
    for (const Guest& each : guests)
      simulation.actor([&simulation, watch, place, each] { return visit(simulation, watch, place, each); });
    if (place.count == Place::Count::fixed) return;
    simulation.after(place.raised_after, [&simulation, watch, permits = place.permits] {
      const auto nodes = simulation.ensemble().nodes();
      if (std::ranges::none_of(nodes, [](const FakeNode& node) { return node.path == count_node; })) return;
      watch->raise(permits + 1);
      simulation.ensemble().set_data(count_node, {0, 0, 0, static_cast<char>(permits + 1)});
    });
  };
}

void check(const Place& place, const std::vector<Guest>& guests, std::size_t pairs,
           const std::string& operator_deletes = {}) {
  test::check_exploration(scenario_of(place, guests), pairs, {.operator_deletes = operator_deletes});
}

}  // namespace

TEST_CASE("a single permit is given to one client at a time whatever fails") {
  check({.permits = 1}, {{.name = "a"}, {.name = "b", .comes_after = 100ms}}, 400);
}

TEST_CASE("two clients that want all permits get them in turn whatever fails") {
  check({.permits = 2}, {{.name = "a", .wants = 2}, {.name = "b", .wants = 2}}, 400);
}

TEST_CASE("no more permits are given out than exist, whatever fails") {
  check({.permits = 2},
        {{.name = "a"}, {.name = "b", .wants = 2, .comes_after = 100ms}, {.name = "c", .comes_after = 200ms}}, 400);
}

TEST_CASE("a client that gets no permits leaves no trace whatever fails") {
  check({.permits = 2},
        {{.name = "a", .works_for = 5s},
         {.name = "b", .wants = 2, .comes_after = 100ms, .limit = Guest::Limit::limited},
         {.name = "c", .wants = 2, .comes_after = 3s, .limit = Guest::Limit::none}},
        400);
}

TEST_CASE("clients whose semaphore nodes an operator deletes start over, and none waits for a phantom") {
  check({.permits = 1}, {{.name = "a"}, {.name = "b", .comes_after = 100ms}, {.name = "c", .comes_after = 200ms}}, 200,
        directory);
  check(
      {.permits = 2},
      {{.name = "a", .wants = 2}, {.name = "b", .wants = 2, .comes_after = 100ms}, {.name = "c", .comes_after = 200ms}},
      80, directory);
}

TEST_CASE("a raised number of permits admits that many more clients whatever fails") {
  check({.permits = 1, .count = Place::Count::shared},
        {{.name = "a", .works_for = 2s}, {.name = "b", .comes_after = 100ms, .works_for = 2s}}, 400);
}

TEST_CASE("a number of permits that is raised at any moment admits the waiter") {
  for (auto moment = 100ms; moment < 140ms; ++moment) {
    INFO(moment.count() << " ms");
    Simulation simulation{1, {.latency = 1ms}};
    scenario_of({.permits = 1, .count = Place::Count::shared, .raised_after = moment},
                {{.name = "a", .works_for = 5s}, {.name = "b", .comes_after = 100ms, .limit = Guest::Limit::limited}})(
        simulation);
    simulation.run();
    CHECK(simulation.failures().empty());
    for (const Simulation::Operation& operation : simulation.operations()) CHECK_FALSE(operation.outcome);
  }
}

TEST_CASE("PermitWatch also sees nodes that are no permits after an operator has deleted a node") {
  Simulation simulation;
  PermitWatch watch{simulation, 1};
  simulation.actor([&]() -> asio::awaitable<void> {
    Client& client = simulation.client("a", patient());
    const InterProcessSemaphore semaphore{client, directory, 1};
    std::vector<Lease> leases(1);
    leases.front() = co_await semaphore.async_acquire();
    watch.granted("a", leases);
    CHECK(watch.only_the_first_in_line_tries());
    simulation.delete_as_operator(leases.front().node_path());
    const Client& other = simulation.client("b", patient());
    const std::string node = directory + "/leases/x-lease-0000000007";
    const std::string data;
    const CreateOptions ephemeral = CreateMode::ephemeral;
    co_await other.async_create(node, data, ephemeral);
    CHECK(watch.only_the_first_in_line_tries());
    co_await test::pause(13s);
    CHECK_FALSE(watch.only_the_first_in_line_tries());
    simulation.ensemble().remove(node);
  });
  simulation.run();
  CHECK(simulation.failures().empty());
}
