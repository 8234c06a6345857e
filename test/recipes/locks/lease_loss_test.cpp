// How a holder loses its lock, and what it is told then.
#include "lease_fixture.hpp"
#include "support/catch.hpp"
#include "support/event_books.hpp"

#include <zklock/recipe_kit/session_ops.hpp>
#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>

#include <optional>

using namespace zklock;
using namespace zklock::testing;
using namespace zklock::test;
using namespace std::chrono_literals;

TEST_CASE("a holder whose node an operator deletes loses the lock, and a wait for the loss is told") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    Lease lease = co_await acquire(simulation, "a");
    Watcher watcher;
    watcher.watch(simulation, lease);
    co_await pause(1s);
    simulation.ensemble().remove(lease.node_path());
    co_await pause(10ms);
    CHECK(watcher.completions == 1);
    CHECK_FALSE(watcher.outcome);
    CHECK(lease.state() == LeaseState::lost);
    const auto [error] = co_await lease.async_release(asio::as_tuple(asio::deferred));
    CHECK(error == LockError::lock_lost);
  });
}

TEST_CASE("a release that begins without a link is also told that the lock is lost") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    Lease lease = co_await acquire(simulation, "a");
    simulation.ensemble().refuse_connections();
    simulation.ensemble().cut_all();
    co_await pause(10ms);
    REQUIRE(lease.state() == LeaseState::suspect);
    simulation.after(1s, [&] {
      simulation.ensemble().remove(lease.node_path());
      simulation.ensemble().accept_connections();
    });
    const auto [error] = co_await lease.async_release(asio::as_tuple(asio::deferred));
    CHECK(error == LockError::lock_lost);
  });
}

TEST_CASE("a writer's release without a link that hands off to its client's reader is told of the loss, too") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    const InterProcessReadWriteLock lock{simulation.client("a", config()), directory};
    auto [refused, lease] = co_await lock.write_lock().async_acquire(asio::as_tuple(asio::deferred));
    REQUIRE_FALSE(refused);
    Lease reader;
    lock.read_lock().async_acquire([&](error_code error, Lease granted) {
      if (!error) reader = std::move(granted);
    });
    co_await pause(10ms);
    simulation.ensemble().refuse_connections();
    simulation.ensemble().cut_all();
    co_await pause(10ms);
    REQUIRE(lease.state() == LeaseState::suspect);
    simulation.after(1s, [&, path = lease.node_path()] {
      simulation.ensemble().remove(path);
      simulation.ensemble().accept_connections();
    });
    const auto [error] = co_await lease.async_release(asio::as_tuple(asio::deferred));
    CHECK(error == LockError::lock_lost);
    co_await pause(10s);
    reader = Lease{};
    co_await pause(1s);
  });
}

TEST_CASE("a release whose delete was carried out, though its reply was lost, is no loss") {
  const auto books = std::make_shared<EventBooks>();
  play([&](Simulation& simulation) -> asio::awaitable<void> {
    ClientConfig observed = config();
    observed.observers = {books};
    const InterProcessMutex mutex{simulation.client("a", observed), directory};
    const Owner owner = Owner::make();
    auto [refused, lease] = co_await mutex.async_acquire(owner, asio::as_tuple(asio::deferred));
    REQUIRE_FALSE(refused);
    auto [again_refused, again] = co_await mutex.async_acquire(owner, asio::as_tuple(asio::deferred));
    REQUIRE_FALSE(again_refused);
    co_await pause(100ms);
    // Both the write of the count and the delete are carried out, and both replies are lost. So the write is made again,
    // and finds no node.
    simulation.ensemble().set_latency(5ms);
    bool is_deleted = false;
    int writes = 0;
    simulation.ensemble().on_call([&](const FakeCall& call) {
      if (call.operation == "set_data" && !call.applied) ++writes;
      if (call.operation != "remove" || !call.applied || is_deleted) return FakeFault::none;
      is_deleted = true;
      return FakeFault::cut;
    });
    again = Lease{};
    const auto [error] = co_await lease.async_release(asio::as_tuple(asio::deferred));
    CHECK_FALSE(error);
    CHECK(is_deleted);
    CHECK(writes > 1);
  });
  CHECK(books->seen().phases.at(LockPhase::released) == 1);
  CHECK_FALSE(books->seen().phases.contains(LockPhase::lost));
}

TEST_CASE("a delete that finds no node is told as done only if an earlier try may have deleted the node") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    const Lease lease = co_await acquire(simulation, "a");
    const Session session = simulation.client("a", config()).session();
    for (const Outcome earlier : {Outcome::not_applied, Outcome::ambiguous}) {
      std::optional<error_code> told;
      const auto tell = [&told](error_code error) { told = error; };
      remove_in_background(session, lease.node_path() + "0", tell, earlier);
      co_await pause(10ms);
      CHECK(told == (earlier == Outcome::ambiguous ? error_code{} : make_error_code(Error::no_node)));
    }
  });
}

TEST_CASE("an owner that has lost the write lock does not read by it, though its node still exists") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    const InterProcessReadWriteLock lock{simulation.client("a", config()), directory};
    const Owner owner = Owner::make();
    Lease writing = co_await lock.write_lock().async_acquire(owner);
    simulation.ensemble().hold_all_replies();
    co_await pause(std::chrono::ceil<std::chrono::milliseconds>(writing.valid_until() - Clock::now()) + 1ms);
    CHECK(writing.state() == LeaseState::lost);
    simulation.ensemble().release_replies();
    co_await pause(100ms);
    CHECK(exists(simulation, writing.node_path()));
    const auto before = simulation.ensemble().nodes().size();
    {
      const auto [refused, reading] = co_await lock.read_lock().async_acquire(owner, asio::as_tuple(asio::deferred));
      CHECK(refused == LockError::lock_lost);
      CHECK_FALSE(reading.is_held());
    }
    co_await pause(100ms);
    CHECK(simulation.ensemble().nodes().size() == before);
    const auto [error] = co_await writing.async_release(asio::as_tuple(asio::deferred));
    CHECK(error == LockError::lock_lost);
    const Lease reading = co_await lock.read_lock().async_acquire(owner);
    CHECK(reading.is_held());
  });
}

TEST_CASE("a writer that loses its lock while it acquires the read lock does not read by it") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    const InterProcessReadWriteLock lock{simulation.client("a", config()), directory};
    const Owner owner = Owner::make();
    const Lease writing = co_await lock.write_lock().async_acquire(owner);
    const auto until = writing.valid_until();
    error_code outcome;
    bool done = false;
    simulation.ensemble().hold_all_replies();
    lock.read_lock().async_acquire(owner,
                                   asio::bind_executor(simulation.executor(), [&](error_code error, const Lease&) {
                                     outcome = error;
                                     done = true;
                                   }));
    co_await pause(std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()) + 1ms);
    CHECK_FALSE(done);
    CHECK(writing.state() == LeaseState::lost);
    simulation.ensemble().release_replies();
    co_await pause(1s);
    CHECK(done);
    CHECK(outcome == LockError::lock_lost);
    CHECK(writing.state() == LeaseState::lost);
  });
}
