// LockSettings::max_hold: the client takes a lock away from an owner that is alive and stuck.
#include "lease_fixture.hpp"
#include "support/catch.hpp"
#include "support/log.hpp"

#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>
#include <zklock/recipes/locks/inter_process_semaphore.hpp>
#include <zklock/recipes/locks/inter_process_semaphore_mutex.hpp>
#include <zklock/recipes/locks/lock_registry.hpp>

#include <memory>
#include <vector>

using namespace zklock;
using namespace zklock::testing;
using namespace zklock::test;
using namespace std::chrono_literals;

namespace {

constexpr LockSettings limited{.max_hold = 30s};

InterProcessMutex limited_mutex(Simulation& simulation, const std::string& who) {
  return {simulation.client(who, config()), directory, limited};
}

template <class Lock>
asio::awaitable<Lease> acquire(const Lock& lock) {
  auto [error, lease] = co_await lock.async_acquire(asio::as_tuple(asio::deferred));
  CHECK_FALSE(error);
  co_return std::move(lease);
}

/// An acquire that goes on beside its test.
struct Waiting {
  Lease lease{};
  Clock::time_point granted{};

  template <class Lock>
  void begin(Simulation& simulation, const Lock& lock) {
    lock.async_acquire(asio::bind_executor(simulation.executor(), [this](error_code error, Lease got) {
      CHECK_FALSE(error);
      granted = Clock::now();
      lease = std::move(got);
    }));
  }
};

std::size_t nodes_below(Simulation& simulation, const std::string& path) {
  return static_cast<std::size_t>(std::ranges::count_if(
      simulation.ensemble().nodes(), [&](const FakeNode& node) { return node.path.starts_with(path + "/"); }));
}

/// A holder of such a lock that does nothing any more loses it after 30 s, and another client gets it.
template <class Make>
void lose_to_another(Make make) {
  play([&](Simulation& simulation) -> asio::awaitable<void> {
    const auto mine = make(simulation.client("a", config()));
    const auto theirs = make(simulation.client("b", config()));
    Lease stuck = co_await acquire(mine);
    const auto begin = Clock::now();
    CHECK(stuck.valid_until() <= begin + 30s);
    Watcher watcher;
    watcher.watch(simulation, stuck);
    Waiting other;
    other.begin(simulation, theirs);
    co_await pause(29s);
    CHECK(stuck.is_held());
    CHECK(stuck.cause_of_loss().empty());
    CHECK(other.granted == Clock::time_point{});
    co_await pause(2s);
    CHECK(stuck.state() == LeaseState::lost);
    CHECK(stuck.cause_of_loss() == "max_hold_passed");
    CHECK(stuck.remaining() == 0s);
    CHECK(watcher.completions == 1);
    CHECK_FALSE(watcher.outcome);
    CHECK(watcher.heard >= begin + 30s);
    REQUIRE(other.lease.is_held());
    CHECK(other.granted >= begin + 30s);
    CHECK(other.lease.fencing_token() > stuck.fencing_token());
    CHECK_FALSE(stuck.extend(1h));
    const auto [error] = co_await stuck.async_release(asio::as_tuple(asio::deferred));
    CHECK(error == LockError::lock_lost);
    co_await pause(1s);
    CHECK(other.lease.is_held());  // that release has deleted nothing
    // And the other one, too.
    Waiting again;
    again.begin(simulation, mine);
    co_await pause(30s);
    CHECK(other.lease.state() == LeaseState::lost);
    CHECK(again.lease.is_held());
    again.lease = Lease{};
    other.lease = Lease{};
    co_await pause(1s);
  });
}

}  // namespace

TEST_CASE("a lock whose holder is alive and stuck goes to another client when its longest hold has passed") {
  SECTION("a mutex") {
    lose_to_another([](const ClientHandle& client) { return InterProcessMutex{client, directory, limited}; });
  }
  SECTION("a mutex that is kept, silently") {
    lose_to_another([](const ClientHandle& client) {
      return InterProcessMutex{client, directory, {.keep = 10s, .keeping = Keeping::silent, .max_hold = 30s}};
    });
  }
  SECTION("a mutex that is kept, confirmed") {
    lose_to_another([](const ClientHandle& client) {
      return InterProcessMutex{client, directory, {.keep = 10s, .max_hold = 30s}};
    });
  }
  SECTION("a write lock") {
    lose_to_another([](const ClientHandle& client) {
      return std::move(InterProcessReadWriteLock{client, directory, limited}.write_lock());
    });
  }
  SECTION("a permit") {
    lose_to_another([](const ClientHandle& client) {
      return InterProcessSemaphore{client, directory, 1, {.max_hold = 30s}};
    });
  }
  SECTION("a shared number of permits") {
    lose_to_another([](const ClientHandle& client) {
      return InterProcessSemaphore{client, directory, SharedPermits{"/permits", 1}, {.max_hold = 30s}};
    });
  }
  SECTION("a semaphore mutex") {
    lose_to_another([](const ClientHandle& client) { return InterProcessSemaphoreMutex{client, directory, limited}; });
  }
}

TEST_CASE("a reader's longest hold lets a writer in") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    const InterProcessReadWriteLock mine{simulation.client("a", config()), directory, limited};
    const InterProcessReadWriteLock theirs{simulation.client("b", config()), directory};
    Lease stuck = co_await acquire(mine.read_lock());
    Waiting writer;
    writer.begin(simulation, theirs.write_lock());
    co_await pause(31s);
    CHECK(stuck.cause_of_loss() == "max_hold_passed");
    CHECK(writer.lease.is_held());
  });
}

TEST_CASE("a waiter of the same client gets the lock at once when the longest hold has passed") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    const InterProcessMutex mutex = limited_mutex(simulation, "a");
    const Lease stuck = co_await acquire(mutex);
    const auto begin = Clock::now();
    Waiting next;
    next.begin(simulation, mutex);
    co_await pause(31s);
    CHECK(stuck.state() == LeaseState::lost);
    CHECK(next.lease.is_held());
    CHECK(next.granted >= begin + 30s);
  });
}

TEST_CASE("without a longest hold a lock is held for as long as its holder wants") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    Lease lease = co_await acquire(InterProcessMutex{simulation.client("a", config()), directory});
    CHECK(lease.extend(1s));  // it limits nothing
    co_await pause(10min);
    CHECK(lease.is_held());
    const auto [error] = co_await lease.async_release(asio::as_tuple(asio::deferred));
    CHECK_FALSE(error);
    CHECK_FALSE(lease.extend(1s));
    CHECK_FALSE(Lease{}.extend(1s));
  });
}

TEST_CASE("to re-enter does not extend a hold, and to extend it by name does, again and again") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    const InterProcessMutex mutex = limited_mutex(simulation, "a");
    const Owner owner = Owner::make();
    auto [failed, lease] = co_await mutex.async_acquire(owner, asio::as_tuple(asio::deferred));
    REQUIRE_FALSE(failed);
    const auto limit = Clock::now() + 30s;
    CHECK(lease.valid_until() <= limit);
    co_await pause(20s);
    auto [again, second] = co_await mutex.async_acquire(owner, asio::as_tuple(asio::deferred));
    REQUIRE_FALSE(again);
    CHECK(second.valid_until() <= limit);
    CHECK(lease.extend(5s));  // no shorter than it was
    co_await pause(9s);
    CHECK(lease.is_held());
    for (int i = 0; i < 3; ++i) {
      CHECK(lease.extend(30s));
      CHECK(second.valid_until() > Clock::now());
      co_await pause(29s);
      CHECK(second.is_held());
    }
    co_await pause(2s);
    CHECK(second.state() == LeaseState::lost);
    CHECK(lease.state() == LeaseState::lost);
    CHECK_FALSE(second.extend(30s));
    CHECK_FALSE(exists(simulation, lease.node_path()));
    // As after any loss, the owner first releases what it has lost.
    auto [lost, none] = co_await mutex.async_acquire(owner, asio::as_tuple(asio::deferred));
    CHECK(lost == LockError::lock_lost);
    lease = Lease{};
    second = Lease{};
    auto [error, new_one] = co_await mutex.async_acquire(owner, asio::as_tuple(asio::deferred));
    CHECK_FALSE(error);
    CHECK(new_one.is_held());
  });
}

TEST_CASE("with a kept lock the longest hold counts from each grant") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    const auto keeping = GENERATE(Keeping::silent, Keeping::confirmed);
    const InterProcessMutex mutex{
        simulation.client("a", config()), directory, {.keep = 10min, .keeping = keeping, .max_hold = 30s}};
    std::string node;
    for (int i = 0; i < 6; ++i) {
      const Lease lease = co_await acquire(mutex);
      if (i > 3) CHECK(lease.node_path() == node);  // it is kept
      node = lease.node_path();
      co_await pause(20s);
      CHECK(lease.is_held());
    }
    co_await pause(10s);
    CHECK(exists(simulation, node));  // the limit of an earlier hold ends no later one, nor the keeping
    const Lease stuck = co_await acquire(mutex);
    CHECK(stuck.node_path() == node);
    co_await pause(31s);
    CHECK(stuck.cause_of_loss() == "max_hold_passed");
    CHECK_FALSE(exists(simulation, node));
    const Lease next = co_await acquire(mutex);
    CHECK(next.is_held());
    CHECK(next.node_path() != node);
  });
}

TEST_CASE("of several readers by one kept node, only the stuck one loses the lock") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    const InterProcessReadWriteLock lock{
        simulation.client("a", config()), directory, {.keep = 10min, .keeping = Keeping::silent, .max_hold = 30s}};
    for (int i = 0; i < 5; ++i) {
      const Lease lease = co_await acquire(lock.read_lock());
      co_await pause(10ms);
    }
    const Lease stuck = co_await acquire(lock.read_lock());
    co_await pause(20s);
    Lease other = co_await acquire(lock.read_lock());
    REQUIRE(other.node_path() == stuck.node_path());
    co_await pause(11s);
    CHECK(stuck.cause_of_loss() == "max_hold_passed");
    CHECK(other.is_held());
    CHECK(exists(simulation, other.node_path()));
    const InterProcessReadWriteLock theirs{simulation.client("b", config()), directory};
    Waiting writer;
    writer.begin(simulation, theirs.write_lock());
    co_await pause(1s);
    CHECK_FALSE(writer.lease.is_held());
    other = Lease{};
    co_await pause(1s);
    CHECK(writer.lease.is_held());
  });
}

TEST_CASE("each permit has its own longest hold") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    const InterProcessSemaphore semaphore{simulation.client("a", config()), directory, 2, {.max_hold = 30s}};
    const Lease first = co_await acquire(semaphore);
    co_await pause(20s);
    Lease second = co_await acquire(semaphore);
    co_await pause(11s);
    CHECK(first.state() == LeaseState::lost);
    CHECK(second.is_held());
    CHECK(nodes_below(simulation, directory + "/leases") == 1);
    CHECK(second.extend(1min));
    co_await pause(50s);
    CHECK(second.is_held());
  });
}

TEST_CASE("a longest hold that passes without a link ends the lease then, and the node when the link is back") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    const Lease stuck = co_await acquire(limited_mutex(simulation, "a"));
    co_await pause(28s);
    simulation.ensemble().refuse_connections();
    simulation.ensemble().cut_all();
    co_await pause(1s);
    CHECK(stuck.state() == LeaseState::suspect);
    CHECK(stuck.remaining() <= 1s);
    co_await pause(1500ms);
    CHECK(stuck.state() == LeaseState::lost);
    CHECK(stuck.cause_of_loss() == "max_hold_passed");
    CHECK(exists(simulation, stuck.node_path()));
    simulation.ensemble().accept_connections();
    co_await pause(3s);
    CHECK_FALSE(exists(simulation, stuck.node_path()));
  });
}

TEST_CASE("a longest hold frees a lock whose lease was lost before, while its session lives on") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    const Lease stuck = co_await acquire(limited_mutex(simulation, "a"));
    simulation.oversleep(stuck.valid_until());
    REQUIRE(stuck.state() == LeaseState::lost);
    co_await pause(20s);
    REQUIRE(exists(simulation, stuck.node_path()));
    co_await pause(10s);
    CHECK_FALSE(exists(simulation, stuck.node_path()));
    CHECK(stuck.cause_of_loss() == "validity_passed");  // the first one
  });
}

TEST_CASE("the log says that a longest hold has passed, once, and a release in time says nothing") {
  const Log log{LogLevel::info};
  play([&](Simulation& simulation) -> asio::awaitable<void> {
    ClientConfig logging = config();
    logging.logger = log.logger();
    const InterProcessMutex mutex{simulation.client("a", logging), directory, limited};
    for (int i = 0; i < 3; ++i) {
      const Lease lease = co_await acquire(mutex);
      co_await pause(29s);
    }
    co_await pause(1min);
    CHECK(log.count("event=") == 0);
    auto stuck = std::make_unique<Lease>(co_await acquire(mutex));
    co_await pause(31s);
    REQUIRE(log.count("event=") == 1);
    CHECK(log.with({"event=lost"}).at(0).level == LogLevel::warning);
    CHECK(log.with({"event=lost", "cause=max_hold_passed"}).size() == 1);
    stuck.reset();
    co_await pause(1min);
    CHECK(log.count("event=") == 1);
  });
}
