// Read locks that clients keep between two uses, under every fault at every step.
#include "support/catch.hpp"
#include "support/exploration.hpp"
#include "support/read_write_watch.hpp"

#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>

#include <memory>
#include <string>
#include <vector>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

const std::string directory = "/locks/prices";

ClientConfig patient() { return {.session_timeout = 10s, .retry = ExponentialBackoffRetry{20ms, 8}}; }

constexpr LockSettings silent{.keep = 60ms, .keeping = Keeping::silent};

/// Takes one of the two locks several times.
struct User {
  enum class Does { reads, writes, tries };
  std::string name;
  Does does = Does::reads;
  std::string client = name;
  int times = 6;
  LockSettings settings{};
  std::chrono::milliseconds comes_after{0};
  std::chrono::milliseconds works_for{5};
  std::chrono::milliseconds rests_for{0};
};

asio::awaitable<void> use(Simulation& simulation, std::shared_ptr<test::ReadWriteWatch> watch, User user) {
  co_await test::pause(user.comes_after);
  const InterProcessReadWriteLock both{simulation.client(user.client, patient()), directory, user.settings};
  const bool tries = user.does == User::Does::tries;
  const LockKind kind = user.does == User::Does::writes ? LockKind::write : LockKind::read;
  const InterProcessMutex& lock = kind == LockKind::write ? both.write_lock() : both.read_lock();
  for (int i = 0; i < user.times; ++i) {
    auto acquiring = simulation.operation<Lease>(user.client, {.name = tries ? "try" : "acquire"}, [&](auto token) {
      tries ? lock.async_acquire(0s, std::move(token)) : lock.async_acquire(std::move(token));
    });
    auto [error, lease] = co_await std::move(acquiring);
    if (error == LockError::lock_lost) simulation.fail(user.name + " does not start over");
    if (!error) {
      watch->granted(user.name, kind, lease);
      co_await test::pause(user.works_for);
      watch->released(user.name, kind);
      auto releasing = simulation.operation<>(user.client, {.name = "release", .can_be_cancelled = false},
                                              [&lease = lease](auto token) { lease.async_release(std::move(token)); });
      co_await std::move(releasing);
    }
    co_await test::pause(user.rests_for);
  }
}

void check(const std::vector<User>& users, std::size_t pairs, const std::string& operator_deletes = {}) {
  const auto scenario = [users](Simulation& simulation) {
    const auto watch = std::make_shared<test::ReadWriteWatch>(simulation);
    for (const User& each : users)
      simulation.actor([&simulation, watch, each] { return use(simulation, watch, each); });
  };
  test::check_exploration(scenario, pairs, {.operator_deletes = operator_deletes});
}

constexpr auto writes = User::Does::writes;

}  // namespace

TEST_CASE("a read lock that is kept excludes another client's writer whatever fails") {
  check({{.name = "a", .settings = silent},
         {.name = "b", .does = writes, .times = 2, .comes_after = 37ms, .rests_for = 10ms}},
        150);
}

TEST_CASE("read locks that two clients keep exclude a writer whatever fails") {
  check({{.name = "a", .settings = silent, .works_for = 3ms, .rests_for = 2ms},
         {.name = "b", .settings = silent, .comes_after = 4ms, .works_for = 3ms},
         {.name = "c", .does = writes, .times = 2, .comes_after = 41ms, .rests_for = 10ms}},
        150);
}

TEST_CASE("readers of one client by one node exclude its own writer, and another client's, whatever fails") {
  check({{.name = "a", .client = "one", .settings = silent},
         {.name = "b", .client = "one", .settings = silent, .comes_after = 13ms, .works_for = 7ms},
         {.name = "c", .does = writes, .client = "one", .times = 2, .settings = silent, .comes_after = 33ms},
         {.name = "d", .does = writes, .client = "two", .times = 1, .comes_after = 60ms}},
        150);
}

TEST_CASE("a read lock that is kept excludes writers whatever an operator deletes") {
  check({{.name = "a", .client = "one", .settings = silent},
         {.name = "b", .client = "one", .times = 4, .settings = silent, .comes_after = 13ms},
         {.name = "c", .does = writes, .times = 2, .comes_after = 37ms, .rests_for = 10ms}},
        150, directory);
}

TEST_CASE("a read lock that is kept until its time is up excludes writers whatever fails") {
  check({{.name = "a", .settings = silent, .works_for = 3ms, .rests_for = 29ms},
         {.name = "b", .does = writes, .times = 2, .comes_after = 130ms, .rests_for = 10ms}},
        120);
}

TEST_CASE("tries to read beside a kept read lock leave no trace, and exclude writers, whatever fails") {
  check({{.name = "a", .times = 7, .settings = silent, .works_for = 2ms, .rests_for = 4ms},
         {.name = "b",
          .does = User::Does::tries,
          .client = "a",
          .times = 5,
          .settings = silent,
          .comes_after = 3ms,
          .rests_for = 6ms},
         {.name = "c", .does = writes, .times = 2, .comes_after = 30ms, .rests_for = 6ms}},
        120);
}
