// What a lease can be asked to wait for: its loss, and a request to revoke it.
#include "lease_fixture.hpp"
#include "support/catch.hpp"
#include "support/exploration.hpp"

#include <algorithm>
#include <memory>

using namespace zklock;
using namespace zklock::testing;
using namespace zklock::test;
using namespace std::chrono_literals;

TEST_CASE("a wait for the loss ends with the lease, and leaves no watch") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    Lease lease = co_await acquire(simulation, "a");
    Watcher watcher;
    watcher.watch(simulation, lease);
    co_await pause(1s);
    const auto [error] = co_await lease.async_release(asio::as_tuple(asio::deferred));
    CHECK_FALSE(error);
    co_await pause(10ms);
    CHECK(watcher.completions == 1);
    CHECK(watcher.outcome == asio::error::operation_aborted);
    CHECK(simulation.ensemble().watches().empty());
  });
}

TEST_CASE("a request to revoke is heard whenever it comes, and is not overwritten") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    const Owner owner = Owner::make();
    const InterProcessMutex mutex{simulation.client("a", config()), directory};
    auto [error, lease] = co_await mutex.async_acquire(owner, asio::as_tuple(asio::deferred));
    CHECK_FALSE(error);
    int heard = 0;
    const auto listen = [&](Lease& to) {
      to.async_wait_revocation(asio::bind_executor(simulation.executor(), [&](error_code outcome) {
        CHECK_FALSE(outcome);
        ++heard;
      }));
    };
    listen(lease);
    co_await pause(10ms);
    auto [failed, inner] = co_await mutex.async_acquire(owner, asio::as_tuple(asio::deferred));  // writes the count
    CHECK_FALSE(failed);
    co_await pause(10ms);
    CHECK(heard == 0);
    simulation.ensemble().set_data(lease.node_path(), "__REVOKE__");
    co_await pause(10ms);
    CHECK(heard == 1);
    inner = Lease{};  // would write the count
    co_await pause(10ms);
    const auto nodes = simulation.ensemble().nodes();
    const auto node = std::ranges::find(nodes, lease.node_path(), &FakeNode::path);
    REQUIRE(node != nodes.end());
    CHECK(node->data == "__REVOKE__");
    listen(lease);
    co_await pause(10ms);
    CHECK(heard == 2);
    CHECK(lease.is_held());
  });
}

TEST_CASE("a request to revoke that the holder does not wait for yet is not overwritten either") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    const Owner owner = Owner::make();
    const InterProcessMutex mutex{simulation.client("a", config()), directory};
    auto [error, lease] = co_await mutex.async_acquire(owner, asio::as_tuple(asio::deferred));
    CHECK_FALSE(error);
    simulation.ensemble().set_data(lease.node_path(), "__REVOKE__");
    auto [failed, inner] = co_await mutex.async_acquire(owner, asio::as_tuple(asio::deferred));
    CHECK_FALSE(failed);
    co_await pause(10ms);
    const auto [outcome] = co_await lease.async_wait_revocation(asio::as_tuple(asio::deferred));
    CHECK_FALSE(outcome);
  });
}

TEST_CASE("another client's data in a holder's node are replaced, and the count is right in the end") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    const Owner owner = Owner::make();
    const InterProcessMutex mutex{simulation.client("a", config()), directory};
    auto [error, lease] = co_await mutex.async_acquire(owner, asio::as_tuple(asio::deferred));
    CHECK_FALSE(error);
    simulation.ensemble().set_data(lease.node_path(), "hello");
    auto [failed, inner] = co_await mutex.async_acquire(owner, asio::as_tuple(asio::deferred));
    CHECK_FALSE(failed);
    co_await pause(10ms);
    const auto nodes = simulation.ensemble().nodes();
    const auto node = std::ranges::find(nodes, lease.node_path(), &FakeNode::path);
    REQUIRE(node != nodes.end());
    CHECK(node->data == "a:2");
  });
}

TEST_CASE("waits for a loss and for a request to revoke complete once whatever fails") {
  const auto scenario = [](Simulation& simulation) {
    simulation.invariant("idle clients watch nothing",
                         [&simulation] { return test::idle_clients_watch_nothing(simulation, {directory}); });
    simulation.actor([&simulation]() -> asio::awaitable<void> {
      const InterProcessMutex mutex{simulation.client("a", config()), directory};
      auto acquiring =
          simulation.operation<Lease>("a", {"acquire"}, [&](auto token) { mutex.async_acquire(std::move(token)); });
      auto [error, lease] = co_await std::move(acquiring);
      if (error) co_return;
      auto done = std::make_shared<int>(0);
      const auto count = [done](error_code) { ++*done; };
      simulation.operation<>(
          "a", {"wait_lost"}, [&lease = lease](auto token) { lease.async_wait_lost(std::move(token)); }, count);
      simulation.operation<>(
          "a", {"wait_revocation"}, [&lease = lease](auto token) { lease.async_wait_revocation(std::move(token)); },
          count);
      co_await pause(3s);
      auto releasing = simulation.operation<>("a", {.name = "release", .can_be_cancelled = false},
                                              [&lease = lease](auto token) { lease.async_release(std::move(token)); });
      co_await std::move(releasing);
      co_await pause(1ms);
      if (*done != 2) simulation.fail("a wait outlives its lease");
    });
  };
  test::check_exploration(scenario, 300);
}
