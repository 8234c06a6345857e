// Semaphore mutexes that clients keep between two uses, under every fault at every step.
#include "support/catch.hpp"
#include "support/exploration.hpp"
#include "support/lock_watch.hpp"

#include <zklock/recipes/locks/inter_process_semaphore_mutex.hpp>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

const std::string directory = "/locks/orders";

ClientConfig patient() { return {.session_timeout = 10s, .retry = ExponentialBackoffRetry{20ms, 8}}; }

struct User {
  std::string name;
  std::string client = name;
  int times = 4;
  LockSettings settings{};
  std::chrono::milliseconds comes_after{0};
  std::chrono::milliseconds rests_for{0};
};

constexpr LockSettings confirmed{.keep = 60ms, .keeping = Keeping::confirmed};
constexpr LockSettings silent{.keep = 60ms, .keeping = Keeping::silent};
constexpr LockSettings with_handoffs{.keep = 60ms, .keeping = Keeping::silent, .local_hand_overs = 2};

asio::awaitable<void> use(Simulation& simulation, std::shared_ptr<test::LockWatch> watch, User user) {
  co_await test::pause(user.comes_after);
  const InterProcessSemaphoreMutex lock{simulation.client(user.client, patient()), directory, user.settings};
  for (int i = 0; i < user.times; ++i) {
    auto acquiring = simulation.operation<Lease>(user.client, {.name = "acquire"},
                                                 [&](auto token) { lock.async_acquire(std::move(token)); });
    auto [error, lease] = co_await std::move(acquiring);
    if (error == LockError::lock_lost) simulation.fail(user.name + " does not start over");
    if (!error) {
      watch->granted(user.name, lease.node_path(), lease.fencing_token(), user.settings.keeping == Keeping::silent);
      co_await test::pause(5ms);
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
    const auto watch = std::make_shared<test::LockWatch>(simulation, directory + "/leases");
    for (const User& each : users)
      simulation.actor([&simulation, watch, each] { return use(simulation, watch, each); });
  };
  test::check_exploration(scenario, pairs, {.operator_deletes = operator_deletes});
}

}  // namespace

TEST_CASE("a semaphore mutex that is kept, and that another client asks for, is exclusive whatever fails") {
  const LockSettings settings = GENERATE(confirmed, silent);
  check({{.name = "a", .times = 6, .settings = settings}, {.name = "b", .times = 1, .comes_after = 37ms}}, 50);
}

TEST_CASE("two clients that keep a semaphore mutex in turn exclude each other whatever fails") {
  const LockSettings settings = GENERATE(confirmed, silent);
  check({{.name = "a", .times = 5, .settings = settings, .rests_for = 3ms},
         {.name = "b", .times = 4, .settings = settings, .comes_after = 45ms, .rests_for = 3ms}},
        50);
}

TEST_CASE("local waiters of a semaphore mutex without nodes exclude each other, and others, whatever fails") {
  const LockSettings settings = GENERATE(confirmed, with_handoffs);
  check({{.name = "a", .client = "one", .times = 5, .settings = settings},
         {.name = "b", .client = "one", .times = 4, .settings = settings, .comes_after = 3ms},
         {.name = "c", .client = "two", .times = 1, .comes_after = 60ms}},
        50);
}

TEST_CASE("a semaphore mutex that is kept is exclusive whatever an operator deletes") {
  const LockSettings settings = GENERATE(confirmed, silent);
  check({{.name = "a", .times = 6, .settings = settings}, {.name = "b", .times = 1, .comes_after = 37ms}}, 50,
        directory + "/leases");
}
