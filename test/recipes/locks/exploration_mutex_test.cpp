// InterProcessMutex and InterProcessSemaphoreMutex under every fault at every step.
#include "support/catch.hpp"
#include "support/exploration.hpp"
#include "support/lock_watch.hpp"

#include <zklock/recipes/locks/inter_process_mutex.hpp>
#include <zklock/recipes/locks/inter_process_semaphore_mutex.hpp>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;
using zklock::test::LockWatch;

namespace {

const std::string directory = "/locks/orders";

ClientConfig patient() { return {.session_timeout = 10s, .retry = ExponentialBackoffRetry{20ms, 8}}; }

/// Takes the lock, works for a while, and releases it.
struct Contender {
  std::string name;
  std::string client = name;  ///< contenders of the same client are local waiters
  std::chrono::milliseconds comes_after{0};
  std::chrono::milliseconds works_for{0};
  enum class Limit { endless, limited, none } limit = Limit::endless;
  enum class Release { awaited, in_background } release = Release::awaited;
};

template <class Lock>
asio::awaitable<void> compete(Simulation& simulation, std::shared_ptr<LockWatch> watch, Contender self) {
  co_await test::pause(self.comes_after);
  const Lock mutex{simulation.client(self.client, patient()), directory};
  const std::chrono::milliseconds wait = self.limit == Contender::Limit::limited ? 2s : 0s;
  const bool for_ever = self.limit == Contender::Limit::endless;
  const bool once = self.limit == Contender::Limit::none;
  // One try may still wait for a connection.
  const OperationTraits traits{"acquire", for_ever ? 0s : once ? 0s : wait};
  auto acquired = simulation.operation<Lease>(self.client, traits, [&](auto token) {
    if (for_ever) {
      mutex.async_acquire(std::move(token));
    } else {
      mutex.async_acquire(wait, std::move(token));
    }
  });
  auto [error, lease] = co_await std::move(acquired);
  if (error == LockError::lock_lost) simulation.fail(self.name + " does not start over");
  if (error) co_return;
  watch->granted(self.name, lease.node_path(), lease.fencing_token());
  co_await test::pause(self.works_for);
  watch->released(self.name);
  if (self.release == Contender::Release::in_background) co_return;
  auto released = simulation.operation<>(self.client, {.name = "release", .can_be_cancelled = false},
                                         [&lease = lease](auto token) { lease.async_release(std::move(token)); });
  co_await std::move(released);
}

/// Takes the lock twice, and releases it in two steps.
asio::awaitable<void> enter_twice(Simulation& simulation, std::shared_ptr<LockWatch> watch, Contender self) {
  co_await test::pause(self.comes_after);
  const InterProcessMutex mutex{simulation.client(self.client, patient()), directory};
  const Owner owner = Owner::make();
  const auto acquire = [&](auto token) { mutex.async_acquire(owner, std::move(token)); };
  auto acquiring = simulation.operation<Lease>(self.client, {.name = "acquire"}, acquire);
  auto [error, outer] = co_await std::move(acquiring);
  if (error) co_return;
  watch->granted(self.name, outer.node_path(), outer.fencing_token());
  co_await test::pause(self.works_for);
  auto entering = simulation.operation<Lease>(self.client, {.name = "re-enter"}, acquire);
  auto [refused, inner] = co_await std::move(entering);
  if (!refused && inner.node_path() != outer.node_path()) simulation.fail(self.name + " enters by another node");
  co_await test::pause(self.works_for);
  if (!refused) {
    auto leaving = simulation.operation<>(self.client, {.name = "leave", .can_be_cancelled = false},
                                          [&inner = inner](auto token) { inner.async_release(std::move(token)); });
    co_await std::move(leaving);
  }
  co_await test::pause(self.works_for);
  watch->released(self.name);
  auto released = simulation.operation<>(self.client, {.name = "release", .can_be_cancelled = false},
                                         [&outer = outer](auto token) { outer.async_release(std::move(token)); });
  co_await std::move(released);
}

using Actor = asio::awaitable<void> (*)(Simulation&, std::shared_ptr<LockWatch>, Contender);

void check(const std::vector<Contender>& contenders, std::size_t pairs, Actor actor = compete<InterProcessMutex>,
           const std::string& nodes = directory, const std::string& operator_deletes = {}) {
  const auto scenario = [&](Simulation& simulation) {
    const auto watch = std::make_shared<LockWatch>(simulation, nodes);
    simulation.invariant("idle clients watch nothing",
                         [&simulation] { return test::idle_clients_watch_nothing(simulation, {directory}); });
    for (const Contender& each : contenders)
      simulation.actor([&simulation, watch, each, actor] { return actor(simulation, watch, each); });
  };
  test::check_exploration(scenario, pairs, {.operator_deletes = operator_deletes});
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

TEST_CASE("three contenders get the lock in turn whatever fails") {
  check({{.name = "a", .works_for = 1s},
         {.name = "b", .comes_after = 100ms, .works_for = 1s},
         {.name = "c", .comes_after = 200ms, .works_for = 1s}},
        500);
}

TEST_CASE("a try leaves no trace whatever fails") {
  check({{.name = "a", .works_for = 3s}, {.name = "b", .comes_after = 100ms, .limit = Contender::Limit::none}}, 300);
}

TEST_CASE("a waiter that times out leaves no trace whatever fails") {
  check({{.name = "a", .works_for = 5s}, {.name = "b", .comes_after = 100ms, .limit = Contender::Limit::limited}}, 500);
}

TEST_CASE("an owner that acquires twice and releases twice has one node meanwhile, whatever fails") {
  check({{.name = "a", .works_for = 500ms}, {.name = "b", .comes_after = 100ms, .works_for = 500ms}}, 500, enter_twice);
}

TEST_CASE("two contenders for a semaphore mutex exclude each other whatever fails") {
  check({{.name = "a", .works_for = 1s}, {.name = "b", .comes_after = 100ms, .works_for = 1s}}, 300,
        compete<InterProcessSemaphoreMutex>, directory + "/leases");
}

TEST_CASE("a waiter for a semaphore mutex that times out leaves no trace whatever fails") {
  check({{.name = "a", .works_for = 5s}, {.name = "b", .comes_after = 100ms, .limit = Contender::Limit::limited}}, 300,
        compete<InterProcessSemaphoreMutex>, directory + "/leases");
}

TEST_CASE("contenders whose nodes an operator deletes start over, and exclude each other, whatever fails") {
  check({{.name = "a", .works_for = 1s},
         {.name = "b", .comes_after = 100ms, .works_for = 1s},
         {.name = "c", .comes_after = 200ms, .works_for = 1s}},
        200, compete<InterProcessMutex>, directory, directory);
  check({{.name = "a", .client = "one", .works_for = 1s},
         {.name = "b", .client = "two", .comes_after = 100ms, .works_for = 1s},
         {.name = "c", .client = "one", .comes_after = 200ms, .works_for = 1s}},
        200, compete<InterProcessMutex>, directory, directory);
  check({{.name = "a", .works_for = 1s}, {.name = "b", .comes_after = 100ms, .works_for = 1s}}, 200,
        compete<InterProcessSemaphoreMutex>, directory + "/leases", directory);
}

TEST_CASE("local waiters hand the lock off whatever fails") {
  check({{.name = "a", .client = "one", .works_for = 1s},
         {.name = "b", .client = "one", .comes_after = 100ms, .works_for = 1s},
         {.name = "c", .client = "one", .comes_after = 200ms, .works_for = 1s}},
        500);
}

TEST_CASE("local waiters with another client between them keep the order of the wait queue whatever fails") {
  check({{.name = "a", .client = "one", .works_for = 1s},
         {.name = "b", .client = "two", .comes_after = 100ms, .works_for = 1s},
         {.name = "c", .client = "one", .comes_after = 200ms, .works_for = 1s},
         {.name = "d",
          .client = "one",
          .comes_after = 300ms,
          .works_for = 1s,
          .release = Contender::Release::in_background}},
        500);
}

TEST_CASE("a local waiter that gives up is passed over whatever fails") {
  check({{.name = "a", .client = "one", .works_for = 4s},
         {.name = "b", .client = "one", .comes_after = 100ms, .limit = Contender::Limit::limited},
         {.name = "c", .client = "one", .comes_after = 200ms, .works_for = 1s}},
        500);
}

TEST_CASE("whenever an owner gives up waiting, one further try of the owner gets a free lock") {
  const auto given_up_after = GENERATE(range(0, 60));
  CAPTURE(given_up_after);
  Simulation simulation;
  simulation.actor([&]() -> asio::awaitable<void> {
    const InterProcessMutex mutex{simulation.client("a", patient()), directory};
    simulation.ensemble().set_latency(5ms);
    const Owner owner = Owner::make();
    asio::cancellation_signal signal;
    std::optional<Lease> first;
    auto heard = [&](error_code, Lease lease) { first = std::move(lease); };
    mutex.async_acquire(owner, asio::bind_cancellation_slot(
                                   signal.slot(), asio::bind_executor(simulation.executor(), std::move(heard))));
    co_await test::pause(std::chrono::milliseconds{given_up_after});
    signal.emit(asio::cancellation_type::terminal);
    auto [error, lease] = co_await mutex.async_acquire(owner, 0s, asio::as_tuple(asio::deferred));
    CHECK(error == error_code{});
    CHECK(lease.is_held());
  });
  simulation.run();
  INFO((simulation.failures().empty() ? std::string{} : simulation.failures().front()));
  CHECK(simulation.failures().empty());
}

TEST_CASE("no local waiter is mistaken for an earlier one when a new directory restarts the sequence numbers") {
  Simulation simulation;
  simulation.actor([&simulation]() -> asio::awaitable<void> {
    const InterProcessMutex mine{simulation.client("one", patient()), directory};
    const InterProcessMutex theirs{simulation.client("two", patient()), directory};
    const auto number_of = [](const Lease& lease) { return lease.node_path().substr(lease.node_path().size() - 10); };
    {
      const Lease first = co_await mine.async_acquire();  // keeps the directory
      CHECK(number_of(first) == "0000000000");
      const auto [busy, none] = co_await mine.async_acquire(0s, asio::as_tuple(asio::deferred));
      CHECK(busy == Error::timed_out);
    }
    std::vector<int> granted(3, 0);
    const auto count = [&granted](std::size_t who) {
      return [&granted, who](error_code error, const Lease&) { granted[who] += error ? 0 : 1; };
    };
    // Number 2 is the last node to leave, after it has held the lock.
    auto holder = std::make_unique<Lease>(co_await mine.async_acquire());
    CHECK(number_of(*holder) == "0000000002");
    holder.reset();
    co_await test::pause(1s);
    CHECK(simulation.ensemble().nodes().size() < 2);  // reaped

    holder = std::make_unique<Lease>(co_await mine.async_acquire());
    CHECK(number_of(*holder) == "0000000000");
    theirs.async_acquire(asio::bind_executor(simulation.executor(), count(0)));
    theirs.async_acquire(asio::bind_executor(simulation.executor(), count(1)));
    co_await test::pause(10ms);
    mine.async_acquire(asio::bind_executor(simulation.executor(), count(2)));  // number 3, behind a number 2
    co_await test::pause(1s);
    CHECK(granted == std::vector<int>{0, 0, 0});
    holder.reset();
    co_await test::pause(1s);
    CHECK(granted == std::vector<int>{1, 1, 1});
  });
  simulation.run();
  CHECK(simulation.failures().empty());
}

TEST_CASE("LockWatch also sees overlaps in a directory that was made anew") {
  Simulation simulation;
  LockWatch watch{simulation, directory};
  std::string held_node;
  simulation.actor([&]() -> asio::awaitable<void> {
    const InterProcessMutex first{simulation.client("one", patient()), directory};
    const Lease lost = co_await first.async_acquire();
    watch.granted("one", lost.node_path(), lost.fencing_token());
    simulation.delete_as_operator(directory);
    const InterProcessMutex second{simulation.client("two", patient()), directory};
    const Lease held = co_await second.async_acquire();
    held_node = held.node_path();
    watch.granted("two", held_node, held.fencing_token());
    CHECK(simulation.failures().empty());
    const InterProcessMutex third{simulation.client("three", patient()), directory};
    third.async_acquire(asio::bind_executor(simulation.executor(), [](error_code, const Lease&) {}));
    co_await test::pause(100ms);
    const FakeNode last =
        std::ranges::max(simulation.ensemble().nodes(), {}, [](const FakeNode& node) { return node.stat.czxid; });
    watch.granted("three", last.path, last.stat.czxid);
  });
  simulation.run();
  CHECK(simulation.failures() == std::vector<std::string>{"three is granted the lock that two holds",
                                                          "three is granted the lock ahead of " + held_node});
}

TEST_CASE("while the link is down no lock is handed off, and a local waiter waits until it is back") {
  Simulation simulation;
  simulation.actor([&simulation]() -> asio::awaitable<void> {
    const InterProcessMutex mutex{simulation.client("one", patient()), directory};
    auto holder = std::make_unique<Lease>(co_await mutex.async_acquire());
    LeaseState seen = LeaseState::released;
    mutex.async_acquire(
        asio::bind_executor(simulation.executor(), [&seen](error_code, const Lease& lease) { seen = lease.state(); }));
    co_await test::pause(1s);
    simulation.ensemble().refuse_connections();
    simulation.ensemble().cut_all();
    co_await test::pause(10ms);
    holder.reset();
    co_await test::pause(1s);
    CHECK(seen == LeaseState::released);
    simulation.ensemble().accept_connections();
    co_await test::pause(1s);
    CHECK(seen == LeaseState::held);
  });
  simulation.run();
  CHECK(simulation.failures().empty());
}

TEST_CASE("a directory that is deleted as soon as it is made is made again, though not for ever") {  // [F9]
  for (const int times : {3, 1'000}) {
    Simulation simulation;
    int left = times;
    simulation.ensemble().on_call([&](const FakeCall& call) {
      if (call.applied && call.operation == "create" && call.path == directory && left-- > 0)
        asio::post(simulation.executor(), [&] { simulation.ensemble().remove(directory); });
      return FakeFault::none;
    });
    error_code outcome;
    simulation.actor([&]() -> asio::awaitable<void> {
      const InterProcessMutex mutex{simulation.client("one", patient()), directory};
      const auto [error, lease] = co_await mutex.async_acquire(5s, asio::as_tuple(asio::deferred));
      outcome = error;
      CHECK(lease.is_held() == !error);
    });
    simulation.run();
    CHECK(simulation.failures().empty());
    CHECK(outcome == (times == 3 ? error_code{} : make_error_code(Error::no_node)));
  }
}
