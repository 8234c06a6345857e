// InterProcessMultiLock under every fault at every step.
#include "support/catch.hpp"
#include "support/exploration.hpp"
#include "support/lock_watch.hpp"

#include <zklock/recipes/locks/inter_process_multi_lock.hpp>
#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;
using zklock::test::LockWatch;

namespace {

ClientConfig patient() { return {.session_timeout = 10s, .retry = ExponentialBackoffRetry{20ms, 8}}; }

using Paths = std::vector<std::string>;
const Paths both{"/locks/left", "/locks/right"};

/// Watches each of the two paths.
class Watches {
 public:
  explicit Watches(Simulation& simulation) {
    for (const std::string& path : both) watches_.emplace_back(simulation, path);
  }
  void granted(const std::string& who, const MultiLease& lease) {
    for (const Lease& each : lease.leases())
      watch_of(each.node_path()).granted(who, each.node_path(), each.fencing_token());
  }
  void released(const std::string& who) {
    for (LockWatch& watch : watches_) watch.released(who);
  }

 private:
  LockWatch& watch_of(const std::string& node) { return watches_[node.starts_with(both[0] + "/") ? 0 : 1]; }

  std::vector<LockWatch> watches_;
};

/// Takes the locks, in an order of its own, works for a while, and releases them.
struct Party {
  enum class Limit { endless, limited, none };
  enum class Clients { one, one_a_lock };
  std::string name;
  Paths paths = both;
  std::chrono::milliseconds comes_after{0};
  std::chrono::milliseconds works_for{1'000};
  Limit limit = Limit::endless;
  Clients clients = Clients::one;
};

InterProcessMultiLock make_lock(Simulation& simulation, const Party& self) {
  if (self.clients == Party::Clients::one) return {simulation.client(self.name, patient()), self.paths};
  std::vector<InterProcessMutex> mutexes;
  for (const std::string& path : self.paths)
    mutexes.emplace_back(simulation.client(self.name + " of " + path, patient()), path);
  return InterProcessMultiLock{{mutexes.begin(), mutexes.end()}};
}

asio::awaitable<void> play(Simulation& simulation, std::shared_ptr<Watches> watches, Party self) {
  co_await test::pause(self.comes_after);
  const InterProcessMultiLock lock = make_lock(simulation, self);
  const std::chrono::milliseconds wait = self.limit == Party::Limit::limited ? 2s : 0s;
  const bool for_ever = self.limit == Party::Limit::endless;
  const OperationTraits traits{"acquire", self.limit == Party::Limit::limited ? wait : 0s};
  auto acquired = simulation.operation<MultiLease>(self.name, traits, [&](auto token) {
    if (for_ever) {
      lock.async_acquire(std::move(token));
    } else {
      lock.async_acquire(wait, std::move(token));
    }
  });
  auto [error, lease] = co_await std::move(acquired);
  if (!error) watches->granted(self.name, lease);
  if (error && !lease.leases().empty()) simulation.fail(self.name + " has a lease, and an error");
  if (error) co_return;
  if (lease.state() == LeaseState::lost) simulation.fail(self.name + " is granted what it has lost");
  co_await test::pause(self.works_for);
  watches->released(self.name);
  auto released = simulation.operation<>(self.name, {.name = "release", .can_be_cancelled = false},
                                         [&lease = lease](auto token) { lease.async_release(std::move(token)); });
  co_await std::move(released);
}

void check(const std::vector<Party>& parties, std::size_t pairs) {
  const auto scenario = [parties](Simulation& simulation) {
    const auto watches = std::make_shared<Watches>(simulation);
    // The invariant goes by the client names of the operations, and knows one client for each name.
    if (std::ranges::all_of(parties, [](const Party& each) { return each.clients == Party::Clients::one; }))
      simulation.invariant("idle clients watch nothing",
                           [&simulation] { return test::idle_clients_watch_nothing(simulation, both); });
    for (const Party& each : parties)
      simulation.actor([&simulation, watches, each] { return play(simulation, watches, each); });
  };
  test::check_exploration(scenario, pairs);
}

/// Writes some paths and reads others, as one lock.
asio::awaitable<void> play_halves(Simulation& simulation, std::string name, Paths written, Paths read) {
  Client& client = simulation.client(name, patient());
  std::vector<InterProcessReadWriteLock> kept;
  std::vector<std::reference_wrapper<const InterProcessMutex>> halves;
  kept.reserve(written.size() + read.size());
  for (const std::string& path : read) halves.emplace_back(kept.emplace_back(client, path).read_lock());
  for (const std::string& path : written) halves.emplace_back(kept.emplace_back(client, path).write_lock());
  const InterProcessMultiLock lock{halves};
  auto acquired = simulation.operation<MultiLease>(name, {.name = "acquire"},
                                                   [&](auto token) { lock.async_acquire(std::move(token)); });
  auto [error, lease] = co_await std::move(acquired);
  if (error == Error::would_deadlock) simulation.fail(name + " waits for itself");
  if (error) co_return;
  co_await test::pause(1s);
  auto released = simulation.operation<>(name, {.name = "release", .can_be_cancelled = false},
                                         [&lease = lease](auto token) { lease.async_release(std::move(token)); });
  co_await std::move(released);
}

}  // namespace

TEST_CASE("a multi-lock holds all or nothing whatever fails") {
  check({{.name = "a"}}, 300);
  check({{.name = "a", .clients = Party::Clients::one_a_lock}}, 300);
}

TEST_CASE("two multi-locks in opposite orders exclude each other and make progress whatever fails") {
  check({{.name = "a"}, {.name = "b", .paths = {both[1], both[0]}}}, 300);
  check({{.name = "a", .clients = Party::Clients::one_a_lock},
         {.name = "b", .paths = {both[1], both[0]}, .comes_after = 100ms}},
        300);
}

TEST_CASE("a multi-lock that loses one lock while it waits for another starts over whatever fails") {
  const Party holder{.name = "a", .paths = {both[1]}, .works_for = 5s};
  check({holder, {.name = "b", .comes_after = 100ms}}, 300);
  check({holder, {.name = "b", .comes_after = 100ms, .clients = Party::Clients::one_a_lock}}, 300);
}

TEST_CASE("a multi-lock that times out leaves no trace whatever fails") {
  const Party holder{.name = "a", .paths = {both[1]}, .works_for = 5s};
  check({holder, {.name = "b", .comes_after = 100ms, .limit = Party::Limit::limited}}, 300);
  check({holder, {.name = "b", .comes_after = 100ms, .limit = Party::Limit::none}}, 300);
}

TEST_CASE("a multi-lock of readers and writers leaves no trace whatever fails") {
  test::check_exploration(
      [](Simulation& simulation) {
        simulation.actor([&simulation] { return play_halves(simulation, "a", {both[0]}, both); });
        simulation.actor([&simulation] { return play_halves(simulation, "b", {both[1]}, {both[0]}); });
      },
      300);
}

TEST_CASE("a multi-lock has one deadline for all of its locks") {
  Simulation simulation{1, {.latency = 10ms}};
  simulation.actor([&simulation]() -> asio::awaitable<void> {
    std::vector<Lease> held;  // by another client
    for (const std::string& path : both) {
      const InterProcessMutex mutex{simulation.client("holder", patient()), path};
      auto acquired = mutex.async_acquire(asio::as_tuple(asio::deferred));
      auto [error, lease] = co_await std::move(acquired);
      CHECK_FALSE(error);
      held.push_back(std::move(lease));
    }
    simulation.after(1500ms, [&held] { held.front() = Lease{}; });  // of 2 s; another 2 s for the other lock were 3.5 s
    const auto start = Clock::now();
    const InterProcessMultiLock lock{simulation.client("a", patient()), both};
    auto acquired = lock.async_acquire(2s, asio::as_tuple(asio::deferred));
    const auto [error, lease] = co_await std::move(acquired);
    CHECK(error == Error::timed_out);
    CHECK(Clock::now() - start == 2s);
    co_await test::pause(1s);
    for (const FakeNode& node : simulation.ensemble().nodes()) CHECK_FALSE(node.path.starts_with(both[0] + "/"));
  });
  simulation.run();
  CHECK(simulation.failures().empty());
}

TEST_CASE("a multi-lock that fails completes after the release of what it had acquired") {
  Simulation simulation{1, {.latency = 10ms}};
  simulation.actor([&simulation]() -> asio::awaitable<void> {
    Client& client = simulation.client("a", patient());
    const std::string ephemeral = "/locks/right";
    const CreateOptions options = CreateOptions{CreateMode::ephemeral}.creating_parents();
    auto created = client.async_create(ephemeral, "", options, asio::as_tuple(asio::deferred));
    co_await std::move(created);
    const InterProcessMultiLock lock{client, {both[0], ephemeral + "/lock"}};
    auto acquired = lock.async_acquire(asio::as_tuple(asio::deferred));
    const auto [error, lease] = co_await std::move(acquired);
    CHECK(error == Error::no_children_for_ephemerals);
    for (const FakeNode& node : simulation.ensemble().nodes()) CHECK_FALSE(node.path.starts_with(both[0] + "/"));
    auto removed = client.async_remove(ephemeral, asio::as_tuple(asio::deferred));
    co_await std::move(removed);
  });
  simulation.run();
  CHECK(simulation.failures().empty());
}
