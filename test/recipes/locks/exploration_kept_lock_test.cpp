// Locks that clients keep between two uses, under every fault at every step.
#include "support/catch.hpp"
#include "support/exploration.hpp"
#include "support/lock_watch.hpp"

#include <zklock/recipes/locks/inter_process_mutex.hpp>
#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>
#include <zklock/recipes/locks/revocation.hpp>

#include <algorithm>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

const std::string directory = "/locks/orders";

ClientConfig patient() { return {.session_timeout = 10s, .retry = ExponentialBackoffRetry{20ms, 8}}; }

/// Takes the lock several times.
struct User {
  std::string name;
  std::string client = name;
  int times = 4;
  LockSettings settings{};
  std::chrono::milliseconds comes_after{0};
  std::chrono::milliseconds works_for{5};
  std::chrono::milliseconds rests_for{0};
  enum class Does { locks, writes, reads, tries } does = Does::locks;
};

constexpr LockSettings confirmed{.keep = 60ms, .keeping = Keeping::confirmed};
constexpr LockSettings silent{.keep = 60ms, .keeping = Keeping::silent};
constexpr LockSettings with_handoffs{.keep = 60ms, .keeping = Keeping::silent, .local_hand_overs = 2};

asio::awaitable<void> use(Simulation& simulation, std::shared_ptr<test::LockWatch> watch, User user) {
  co_await test::pause(user.comes_after);
  const Client& client = simulation.client(user.client, patient());
  const InterProcessMutex mutex{client, directory, user.settings};
  const InterProcessReadWriteLock both{client, directory, user.settings};
  const InterProcessMutex& lock = user.does == User::Does::writes  ? both.write_lock()
                                  : user.does == User::Does::reads ? both.read_lock()
                                                                   : mutex;
  const bool tries = user.does == User::Does::tries;
  for (int i = 0; i < user.times; ++i) {
    auto acquiring = simulation.operation<Lease>(user.client, {.name = tries ? "try" : "acquire"}, [&](auto token) {
      tries ? lock.async_acquire(0s, std::move(token)) : lock.async_acquire(std::move(token));
    });
    auto [error, lease] = co_await std::move(acquiring);
    if (error == LockError::lock_lost) simulation.fail(user.name + " does not start over");
    if (!error) {
      watch->granted(user.name, lease.node_path(), lease.fencing_token(), user.settings.keeping == Keeping::silent);
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
    const auto watch = std::make_shared<test::LockWatch>(simulation, directory);
    for (const User& each : users)
      simulation.actor([&simulation, watch, each] { return use(simulation, watch, each); });
  };
  test::check_exploration(scenario, pairs, {.operator_deletes = operator_deletes});
}

}  // namespace

TEST_CASE("a lock that is kept, and that another client asks for, is exclusive whatever fails") {
  const LockSettings settings = GENERATE(confirmed, silent);
  check({{.name = "a", .times = 7, .settings = settings},
         {.name = "b", .times = 2, .comes_after = 37ms, .rests_for = 10ms}},
        150);
}

TEST_CASE("two clients that keep a lock in turn exclude each other whatever fails") {
  const LockSettings settings = GENERATE(confirmed, silent);
  check({{.name = "a", .times = 7, .settings = settings, .works_for = 2ms, .rests_for = 3ms},
         {.name = "b", .times = 7, .settings = settings, .comes_after = 45ms, .works_for = 2ms, .rests_for = 3ms}},
        150);
}

TEST_CASE("a lock that is kept is exclusive whatever an operator deletes") {
  const LockSettings settings = GENERATE(confirmed, silent);
  check({{.name = "a", .times = 7, .settings = settings},
         {.name = "b", .times = 2, .comes_after = 37ms, .rests_for = 10ms}},
        150, directory);
}

TEST_CASE("local waiters without nodes exclude each other, and others, whatever fails") {
  const LockSettings settings = GENERATE(confirmed, silent, with_handoffs);
  check({{.name = "a", .client = "one", .times = 6, .settings = settings},
         {.name = "b", .client = "one", .times = 5, .settings = settings, .comes_after = 3ms},
         {.name = "c", .client = "one", .times = 4, .settings = settings, .comes_after = 20ms, .rests_for = 15ms},
         {.name = "d", .client = "two", .times = 2, .comes_after = 60ms, .rests_for = 10ms}},
        150);
}

TEST_CASE("local waiters without nodes exclude each other, and others, whatever an operator deletes") {
  const LockSettings settings = GENERATE(silent, with_handoffs);
  check({{.name = "a", .client = "one", .times = 6, .settings = settings},
         {.name = "b", .client = "one", .times = 5, .settings = settings, .comes_after = 3ms},
         {.name = "c", .client = "two", .times = 3, .comes_after = 50ms}},
        200, directory);
}

TEST_CASE("a lock that is kept until its time is up is exclusive whatever fails") {
  const LockSettings settings = GENERATE(confirmed, silent);
  check({{.name = "a", .times = 6, .settings = settings, .works_for = 3ms, .rests_for = 29ms},
         {.name = "b", .times = 2, .comes_after = 130ms, .rests_for = 10ms}},
        120);
}

TEST_CASE("tries beside a kept lock leave no trace, and exclude others, whatever fails") {
  check({{.name = "a", .times = 8, .settings = silent, .works_for = 2ms, .rests_for = 5ms},
         {.name = "b",
          .client = "a",
          .times = 4,
          .settings = silent,
          .comes_after = 3ms,
          .rests_for = 6ms,
          .does = User::Does::tries},
         {.name = "c", .times = 5, .comes_after = 30ms, .rests_for = 6ms, .does = User::Does::tries}},
        150);
}

TEST_CASE("a write lock that is kept excludes others whatever fails") {
  check({{.name = "a", .times = 7, .settings = silent, .does = User::Does::writes},
         {.name = "b", .times = 2, .comes_after = 37ms, .rests_for = 10ms, .does = User::Does::writes}},
        120);
}
