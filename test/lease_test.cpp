// What a lease says of itself, in a world whose clock the test moves.
#include "support/catch.hpp"
#include "support/exploration.hpp"

#include <zklock/recipes/inter_process_mutex.hpp>
#include <zklock/recipes/inter_process_read_write_lock.hpp>

#include <algorithm>
#include <memory>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;
using zklock::test::pause;

namespace {

constexpr std::chrono::milliseconds timeout = 10s;
const std::string directory = "/locks/orders";

ClientConfig config() { return {.session_timeout = timeout, .retry = ExponentialBackoffRetry{20ms, 8}}; }

bool exists(Simulation& simulation, const std::string& path) {
  return std::ranges::any_of(simulation.ensemble().nodes(), [&](const FakeNode& node) { return node.path == path; });
}

asio::awaitable<Lease> acquire(Simulation& simulation, const std::string& who) {
  const InterProcessMutex mutex{simulation.client(who, config()), directory};
  auto [error, lease] = co_await mutex.async_acquire(asio::as_tuple(asio::deferred));
  if (error) simulation.fail(who + " does not get the lock: " + error.message());
  co_return std::move(lease);
}

/// Runs one actor, which checks on the way.
void play(std::function<asio::awaitable<void>(Simulation&)> body) {
  Simulation simulation;
  simulation.actor([&] { return body(simulation); });
  simulation.run();
  INFO((simulation.failures().empty() ? std::string{} : simulation.failures().front()));
  CHECK(simulation.failures().empty());
}

/// Waits for the loss, and keeps what came of it.
struct Watcher {
  int completions = 0;
  error_code outcome{};
  Clock::time_point heard{};

  void watch(Simulation& simulation, Lease& lease) {
    lease.async_wait_lost(asio::bind_executor(simulation.executor(), [this](error_code error) {
      ++completions;
      outcome = error;
      heard = Clock::now();
    }));
  }
};

}  // namespace

TEST_CASE("a lease is granted with a third of the timeout left or more, however long it was waited for") {
  for (auto wait = 0ms; wait < timeout; wait += 250ms)
    play([wait](Simulation& simulation) -> asio::awaitable<void> {
      CAPTURE(wait.count());
      auto holder = std::make_unique<Lease>(co_await acquire(simulation, "a"));
      const InterProcessMutex mutex{simulation.client("b", config()), directory};
      Clock::duration left{};
      bool is_held = false;
      mutex.async_acquire(asio::bind_executor(simulation.executor(), [&](error_code, const Lease& lease) {
        left = lease.valid_until() - Clock::now();
        is_held = lease.is_held();
      }));
      co_await pause(wait);
      holder.reset();
      co_await pause(1s);
      CHECK(is_held);
      CHECK(left >= timeout / 3);
    });
}

TEST_CASE("a lease that is held is renewed: half of the timeout is ahead, always") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    co_await pause(45s);  // an idle session before
    const Lease lease = co_await acquire(simulation, "a");
    CHECK(lease.valid_until() > Clock::now() + timeout / 4);
    const auto began = simulation.ensemble().counters().calls;
    co_await pause(3 * timeout / 9);
    for (int i = 0; i < 600; ++i) {
      co_await pause(100ms);
      CHECK(lease.is_held());
      CHECK(lease.valid_until() >= Clock::now() + timeout / 2);
    }
    CHECK(simulation.ensemble().counters().calls - began <= 65 * 9 / 10);
  });
}

TEST_CASE("nothing is renewed for those who hold nothing") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    { const Lease lease = co_await acquire(simulation, "a"); }
    co_await pause(timeout);
    const auto before = simulation.ensemble().counters().calls;
    co_await pause(60s);
    CHECK(simulation.ensemble().counters().calls == before);
  });
}

TEST_CASE("a lease is lost when its proof runs out, not later, and once, and stays lost though the session lives") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    Lease lease = co_await acquire(simulation, "a");
    Watcher watcher;
    watcher.watch(simulation, lease);
    co_await pause(30s);
    REQUIRE(lease.is_held());
    simulation.ensemble().hold_all_replies();
    const auto until = lease.valid_until();
    CHECK(lease.valid_until() > Clock::now());
    while (Clock::now() < until - 20ms) {
      CHECK(lease.state() != LeaseState::lost);
      co_await pause(10ms);
    }
    CHECK(watcher.completions == 0);
    co_await pause(30ms);
    CHECK(watcher.completions == 1);
    CHECK_FALSE(watcher.outcome);
    CHECK(watcher.heard <= until);
    CHECK(lease.state() == LeaseState::lost);
    CHECK(lease.valid_until() < Clock::now());
    CHECK(lease.remaining() == 0s);
    CHECK(exists(simulation, lease.node_path()));  // the promise was kept by a margin

    simulation.ensemble().release_replies();
    co_await pause(1s);
    CHECK(lease.state() == LeaseState::lost);
    Watcher late;
    late.watch(simulation, lease);
    co_await pause(10ms);
    CHECK(late.completions == 1);
    const auto [error] = co_await lease.async_release(asio::as_tuple(asio::deferred));
    CHECK(error == Error::lock_lost);
    CHECK(watcher.completions == 1);
    CHECK_FALSE(exists(simulation, lease.node_path()));
  });
}

TEST_CASE("a lease is suspect while the link is down, and held again after") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    const Lease lease = co_await acquire(simulation, "a");
    co_await pause(30s);
    simulation.ensemble().refuse_connections();
    simulation.ensemble().cut_all();
    co_await pause(10ms);
    CHECK(lease.state() == LeaseState::suspect);
    CHECK_FALSE(lease.is_held());
    CHECK(lease.valid_until() > Clock::now());
    co_await pause(2s);
    CHECK(lease.state() == LeaseState::suspect);
    simulation.ensemble().accept_connections();
    co_await pause(2s);
    CHECK(lease.is_held());
    CHECK(lease.valid_until() > Clock::now() + timeout / 2);
  });
}

TEST_CASE("a session that has heard nothing for its timeout is over before anybody has said so") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    const Lease lease = co_await acquire(simulation, "a");
    Session session = simulation.client("a").session(directory);
    // As after a pause of the whole process: time has passed, and nothing else has happened.
    simulation.clock().advance(timeout + 1ms);
    CHECK(lease.state() == LeaseState::lost);
    CHECK(session.state() == SessionState::expired);
    co_await pause(5s);
    CHECK(session.state() == SessionState::expired);
    CHECK(lease.state() == LeaseState::lost);
    const Lease again = co_await acquire(simulation, "a");
    CHECK(again.is_held());
    CHECK_FALSE(again.node_path() == lease.node_path());
  });
}

TEST_CASE("a grant waits until the session is proven alive") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    for (const std::string path : {"/locks", "/locks/orders"}) {
      auto creating =
          simulation.client("b", config()).async_create(path, "", CreateOptions{}, asio::as_tuple(asio::deferred));
      co_await std::move(creating);
    }
    // A round trip is 2.2 s. What the handshake has proven lasts for 10 s, and ends as the create is answered; no
    // heartbeat before that is old enough to be of use.
    simulation.ensemble().set_latency(1100ms);
    const InterProcessMutex mutex{simulation.client("a", config()), directory};
    co_await pause(8s);
    const Lease lease = co_await acquire(simulation, "a");
    CHECK(lease.is_held());
    CHECK(lease.valid_until() > Clock::now());
    simulation.ensemble().heal();
  });
}

TEST_CASE("an operator who deletes a holder's node takes the lock from it, and who waits for that is told") {
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
    CHECK(error == Error::lock_lost);
  });
}

TEST_CASE("a release that begins without a link is told that the lock is lost, too") {
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
    CHECK(error == Error::lock_lost);
  });
}

TEST_CASE("a writer's release that begins without a link, and hands over to its client's reader, is told, too") {
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
    CHECK(error == Error::lock_lost);
    co_await pause(10s);
    reader = Lease{};
    co_await pause(1s);
  });
}

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

TEST_CASE("a request to revoke is heard, whenever it comes, and is not written over") {
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

TEST_CASE("a request to revoke that nobody waits for yet is not written over either") {
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

TEST_CASE("somebody else's data in a holder's node are replaced, and the count is right in the end") {
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
                         [&simulation] { return test::idle_clients_watch_nothing(simulation); });
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

TEST_CASE("who has lost the write lock does not read by it, though its node is there yet") {
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
      CHECK(refused == Error::lock_lost);
      CHECK_FALSE(reading.is_held());
    }
    co_await pause(100ms);
    CHECK(simulation.ensemble().nodes().size() == before);
    const auto [error] = co_await writing.async_release(asio::as_tuple(asio::deferred));
    CHECK(error == Error::lock_lost);
    const Lease reading = co_await lock.read_lock().async_acquire(owner);
    CHECK(reading.is_held());
  });
}

TEST_CASE("a writer that loses its lock while it asks to read does not read by it") {
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
    CHECK(outcome == Error::lock_lost);
    CHECK(writing.state() == LeaseState::lost);
  });
}
