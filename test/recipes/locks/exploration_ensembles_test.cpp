// Multi-locks over two ensembles, with every fault at every step of one of them.
#include "support/catch.hpp"
#include "support/exploration.hpp"
#include "support/lock_watch.hpp"
#include "support/other_ensemble.hpp"

#include <zklock/recipes/locks/inter_process_multi_lock.hpp>
#include <zklock/recipes/locks/lock_registry.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;
using zklock::test::LockWatch;
using zklock::test::OtherEnsemble;

namespace {

ClientConfig patient() { return {.session_timeout = 10s, .retry = ExponentialBackoffRetry{20ms, 8}}; }

using Names = std::vector<std::string>;
// In the order of their paths; "north" has the first and the third of them, "south" the others.
const Names names{"sku-0", "sku-1", "sku-3", "sku-5"};
const std::string base = "/locks";

/// Both ensembles, and what is held in them.
struct World {
  explicit World(Simulation& of) : simulation{of} {
    for (const std::string& name : {names[0], names[2]})
      watches.emplace(base + "/" + name, LockWatch{of, base + "/" + name});
  }
  void granted(const std::string& who, const MultiLease& lease) {
    for (const Lease& each : lease.leases()) {
      const std::string path = each.node_path().substr(0, each.node_path().rfind('/'));
      const auto watch = watches.find(path);
      if (watch != watches.end()) {
        watch->second.granted(who, each.node_path(), each.fencing_token());
      } else if (!holders.emplace(path, who).second) {
        simulation.fail(who + " is granted " + path + " that " + holders[path] + " holds");
      }
    }
  }
  void released(const std::string& who) {
    for (auto& [path, watch] : watches) watch.released(who);
    std::erase_if(holders, [&](const auto& each) { return each.second == who; });
  }

  Simulation& simulation;
  OtherEnsemble south{simulation};
  std::map<std::string, LockWatch> watches;    // of the locks in "north"
  std::map<std::string, std::string> holders;  // of the locks in "south", whose sessions never end
};

struct Party {
  std::string name;
  Names wants;
  std::chrono::milliseconds comes_after{0};
};

asio::awaitable<void> act(World& world, const LockRegistry& registry, const Party& self) {
  std::vector<InterProcessReadWriteLock> locks;
  for (const std::string& name : self.wants) locks.push_back(registry.read_write_lock(name));
  std::vector<std::reference_wrapper<const InterProcessMutex>> parts;
  for (const InterProcessReadWriteLock& lock : locks) parts.emplace_back(lock.write_lock());
  const InterProcessMultiLock all{parts};
  auto acquired = world.simulation.operation<MultiLease>(self.name, {.name = "acquire"},
                                                         [&](auto token) { all.async_acquire(std::move(token)); });
  auto [error, lease] = co_await std::move(acquired);
  if (error) co_return;
  world.granted(self.name, lease);
  co_await test::pause(1s);
  world.released(self.name);
  auto released = world.simulation.operation<>(self.name, {.name = "release", .can_be_cancelled = false},
                                               [&lease = lease](auto token) { lease.async_release(std::move(token)); });
  co_await std::move(released);
}

asio::awaitable<void> play(std::shared_ptr<World> world, Party self) {
  co_await test::pause(self.comes_after);
  Client south = world->south.make_client(patient());
  std::vector<RegistryEnsemble> ensembles;
  ensembles.push_back({.name = "south", .client = south});
  ensembles.push_back({.name = "north", .client = world->simulation.client(self.name, patient())});
  const LockRegistry registry{ensembles, base};
  co_await act(*world, registry, self);
  auto closed = south.async_close(asio::as_tuple(asio::deferred));
  co_await std::move(closed);
}

void check(const std::vector<Party>& parties) {
  test::check_exploration(
      [parties](Simulation& simulation) {
        const auto world = std::make_shared<World>(simulation);
        simulation.at_the_end("nothing is left in the other ensemble", [world] { return world->south.is_clean(); });
        for (const Party& each : parties) simulation.actor([world, each] { return play(world, each); });
      },
      200);
}

}  // namespace

TEST_CASE("a multi-lock over two ensembles holds all or nothing whatever fails in one of them") {
  check({{.name = "a", .wants = names}});
}

TEST_CASE("multi-locks over two ensembles in different orders never deadlock whatever fails in one of them") {
  check({{.name = "a", .wants = names},
         {.name = "b", .wants = {names[3], names[2], names[1], names[0]}, .comes_after = 1ms},
         {.name = "c", .wants = {names[1], names[0]}, .comes_after = 2ms}});
}
