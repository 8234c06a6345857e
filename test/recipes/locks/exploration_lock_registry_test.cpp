// LockRegistry under every fault at every step.
#include "support/catch.hpp"
#include "support/exploration.hpp"
#include "support/lock_watch.hpp"

#include <zklock/recipes/locks/lock_registry.hpp>

#include <memory>
#include <string>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;
using zklock::test::LockWatch;

namespace {

struct Writer {
  std::string name;
  std::chrono::milliseconds comes_after{0};
  LockOptions options{};
};

asio::awaitable<void> write(Simulation& simulation, std::shared_ptr<LockWatch> watch, Writer self) {
  co_await test::pause(self.comes_after);
  const ClientConfig patient{.session_timeout = 10s, .retry = ExponentialBackoffRetry{20ms, 8}};
  const LockRegistry registry{simulation.client(self.name, patient), "/locks"};
  auto acquired = simulation.operation<Lease>(self.name, {.name = "lock"}, [&](auto token) {
    registry.async_lock("stock", Isolation::write, self.options, std::move(token));
  });
  auto [error, lease] = co_await std::move(acquired);
  if (error) co_return;
  watch->granted(self.name, lease.node_path(), lease.fencing_token());
  co_await test::pause(2s);
  watch->released(self.name);
  auto released = simulation.operation<>(self.name, {.name = "release", .can_be_cancelled = false},
                                         [&lease = lease](auto token) { lease.async_release(std::move(token)); });
  co_await std::move(released);
}

}  // namespace

TEST_CASE("repeated tries for a lock of a registry leave no trace whatever fails") {
  const LockOptions often{.wait = 300ms, .tries = 4, .interval = 200ms, .max_interval = 500ms};
  test::check_exploration(
      [often](Simulation& simulation) {
        const auto watch = std::make_shared<LockWatch>(simulation, "/locks/stock");
        simulation.invariant("idle clients watch nothing",
                             [&simulation] { return test::idle_clients_watch_nothing(simulation, {"/locks/stock"}); });
        for (const Writer& each : {Writer{.name = "a"}, Writer{.name = "b", .comes_after = 100ms, .options = often}})
          simulation.actor([&simulation, watch, each] { return write(simulation, watch, each); });
      },
      300);
}
