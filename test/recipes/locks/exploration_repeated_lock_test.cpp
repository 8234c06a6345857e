// Locks that clients take again and again, whose numbers prove their places, under every fault at every step.
#include "support/catch.hpp"
#include "support/exploration.hpp"
#include "support/lock_watch.hpp"

#include <zklock/recipes/locks/inter_process_mutex.hpp>
#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;
using zklock::test::LockWatch;

namespace {

const std::string directory = "/locks/orders";

ClientConfig patient() { return {.session_timeout = 10s, .retry = ExponentialBackoffRetry{20ms, 8}}; }

/// Takes the lock several times.
struct User {
  std::string name;
  std::string client = name;
  int times = 4;
  std::chrono::milliseconds comes_after{0};
  std::chrono::milliseconds works_for{5};
  std::chrono::milliseconds rests_for{0};  ///< 150 ms: the server removes the empty directory meanwhile
  enum class Does { locks, writes, tries } does = Does::locks;
};

asio::awaitable<void> use(Simulation& simulation, std::shared_ptr<LockWatch> watch, User user) {
  co_await test::pause(user.comes_after);
  const Client& client = simulation.client(user.client, patient());
  const InterProcessMutex mutex{client, directory};
  const InterProcessReadWriteLock both{client, directory};
  const InterProcessMutex& lock = user.does == User::Does::writes ? both.write_lock() : mutex;
  const bool tries = user.does == User::Does::tries;
  for (int i = 0; i < user.times; ++i) {
    auto acquiring = simulation.operation<Lease>(user.client, {.name = tries ? "try" : "acquire"}, [&](auto token) {
      tries ? lock.async_acquire(0s, std::move(token)) : lock.async_acquire(std::move(token));
    });
    auto [error, lease] = co_await std::move(acquiring);
    if (error == LockError::lock_lost) simulation.fail(user.name + " does not start over");
    if (!error) {
      watch->granted(user.name, lease.node_path(), lease.fencing_token());
      co_await test::pause(user.works_for);
      watch->released(user.name);
      auto releasing = simulation.operation<>(user.client, {.name = "release", .can_be_cancelled = false},
                                              [&lease = lease](auto token) { lease.async_release(std::move(token)); });
      co_await std::move(releasing);
    }
    co_await test::pause(user.rests_for);
  }
}

void check(const std::vector<User>& users, std::size_t pairs, const std::string& operator_deletes = {}) {
  const auto scenario = [&](Simulation& simulation) {
    const auto watch = std::make_shared<LockWatch>(simulation, directory);
    simulation.invariant("idle clients watch nothing but the directory",
                         [&simulation] { return test::idle_clients_watch_nothing(simulation, {directory}); });
    for (const User& each : users)
      simulation.actor([&simulation, watch, each] { return use(simulation, watch, each); });
  };
  test::check_exploration(scenario, pairs, {.operator_deletes = operator_deletes});
}

}  // namespace

TEST_CASE("a lock that a client takes again and again, and others between, is exclusive whatever fails") {
  check({{.name = "a", .times = 5}, {.name = "b", .times = 2, .comes_after = 12ms, .rests_for = 10ms}}, 500);
}

TEST_CASE("a lock that is taken again and again is exclusive whatever an operator deletes") {
  check({{.name = "a", .times = 5}, {.name = "b", .times = 2, .comes_after = 12ms, .rests_for = 10ms}}, 500, directory);
}

TEST_CASE("local waiters that take a lock again and again exclude others whatever an operator deletes") {
  check({{.name = "a", .client = "one", .times = 3},
         {.name = "b", .client = "one", .times = 3, .comes_after = 3ms},
         {.name = "c", .client = "two", .times = 3, .comes_after = 20ms}},
        500, directory);
}

TEST_CASE("a lock whose directory the server removes between its uses is exclusive whatever fails") {
  check({{.name = "a", .times = 3, .rests_for = 150ms},
         {.name = "b", .times = 3, .comes_after = 160ms, .works_for = 20ms, .rests_for = 130ms}},
        300);
}

TEST_CASE("writers that follow one another by their numbers exclude others whatever an operator deletes") {
  check({{.name = "a", .times = 4, .does = User::Does::writes},
         {.name = "b", .times = 2, .comes_after = 12ms, .rests_for = 10ms, .does = User::Does::writes}},
        300, directory);
}

TEST_CASE("repeated tries for a lock leave no trace, and exclude others, whatever fails") {
  check({{.name = "a", .times = 2, .works_for = 15ms, .rests_for = 5ms},
         {.name = "b", .times = 5, .comes_after = 2ms, .rests_for = 6ms, .does = User::Does::tries}},
        300);
}
