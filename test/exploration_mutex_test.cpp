// InterProcessMutex under every fault at every step.
#include "support/catch.hpp"
#include "support/exploration.hpp"
#include "support/lock_watch.hpp"

#include <zklock/recipes/inter_process_mutex.hpp>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;
using zklock::test::LockWatch;

namespace {

const std::string directory = "/locks/orders";

ClientConfig patient() { return {.session_timeout = 10s, .retry = ExponentialBackoffRetry{20ms, 8}}; }

/// One who takes the lock, works for a while, and gives it back.
struct Contender {
  std::string name;
  std::chrono::milliseconds comes_after{0};
  std::chrono::milliseconds works_for{0};
  enum class Patience { endless, limited, none } patience = Patience::endless;
  enum class Release { awaited, in_background } release = Release::awaited;
};

asio::awaitable<void> contend(Simulation& simulation, std::shared_ptr<LockWatch> watch, Contender self) {
  co_await test::pause(self.comes_after);
  const InterProcessMutex mutex{simulation.client(self.name, patient()), directory};
  const std::chrono::milliseconds wait = self.patience == Contender::Patience::limited ? 2s : 0s;
  const bool for_ever = self.patience == Contender::Patience::endless;
  const bool once = self.patience == Contender::Patience::none;
  // One try may still wait for a connection.
  const OperationTraits traits{"acquire", for_ever ? 0s : once ? 0s : wait};
  auto acquired = simulation.operation<Lease>(self.name, traits, [&](auto token) {
    if (for_ever) {
      mutex.async_acquire(std::move(token));
    } else {
      mutex.async_acquire(wait, std::move(token));
    }
  });
  auto [error, lease] = co_await std::move(acquired);
  if (error) co_return;
  watch->granted(self.name, lease.node_path(), lease.fencing_token());
  co_await test::pause(self.works_for);
  watch->released(self.name);
  if (self.release == Contender::Release::in_background) co_return;
  auto released = simulation.operation<>(self.name, {.name = "release", .can_be_cancelled = false},
                                         [&lease = lease](auto token) { lease.async_release(std::move(token)); });
  co_await std::move(released);
}

Scenario scenario(std::vector<Contender> contenders) {
  return [contenders = std::move(contenders)](Simulation& simulation) {
    const auto watch = std::make_shared<LockWatch>(simulation, directory);
    simulation.invariant("idle clients watch nothing",
                         [&simulation] { return test::idle_clients_watch_nothing(simulation); });
    for (const Contender& each : contenders)
      simulation.actor([&simulation, watch, each] { return contend(simulation, watch, each); });
  };
}

void check(const std::vector<Contender>& contenders, std::size_t pairs) {
  test::check_exploration(scenario(contenders), pairs);
}

}  // namespace

TEST_CASE("an uncontended lock survives every fault at every step") {
  check({{.name = "a", .works_for = 1s}}, 300);
  check({{.name = "a", .works_for = 1s, .release = Contender::Release::in_background}}, 300);
}

TEST_CASE("two contenders exclude each other whatever fails") {
  check({{.name = "a", .works_for = 1s}, {.name = "b", .works_for = 1s}}, 500);
  check({{.name = "a", .works_for = 1s}, {.name = "b", .comes_after = 100ms, .works_for = 1s}}, 500);
}

TEST_CASE("three in line take turns whatever fails") {
  check({{.name = "a", .works_for = 1s},
         {.name = "b", .comes_after = 100ms, .works_for = 1s},
         {.name = "c", .comes_after = 200ms, .works_for = 1s}},
        500);
}

TEST_CASE("a try leaves no trace whatever fails") {
  check({{.name = "a", .works_for = 3s}, {.name = "b", .comes_after = 100ms, .patience = Contender::Patience::none}},
        300);
}

TEST_CASE("a waiter whose time is up leaves no trace whatever fails") {
  check({{.name = "a", .works_for = 5s}, {.name = "b", .comes_after = 100ms, .patience = Contender::Patience::limited}},
        500);
}
