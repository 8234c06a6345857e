// How long a lease holds, and by what it is renewed.
#include "lease_fixture.hpp"
#include "support/catch.hpp"

#include <memory>

using namespace zklock;
using namespace zklock::testing;
using namespace zklock::test;
using namespace std::chrono_literals;

TEST_CASE("a lease is granted with at least a third of the timeout left, however long the wait was") {
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

TEST_CASE("slow servers grant a lease with less than a third of the timeout left, but never with none") {
  struct Case {
    std::chrono::milliseconds latency;  ///< one way
    bool has_a_third;
  };
  for (const Case each : {Case{500ms, true}, Case{900ms, true}, Case{1'100ms, false}, Case{1'200ms, false}})
    play([each](Simulation& simulation) -> asio::awaitable<void> {
      CAPTURE(each.latency.count());
      const InterProcessMutex mutex{simulation.client("a", config()), directory};
      co_await pause(1s);
      simulation.ensemble().set_latency(each.latency);
      auto [error, lease] = co_await mutex.async_acquire(asio::as_tuple(asio::deferred));
      CHECK_FALSE(error);
      CHECK(lease.is_held());
      CHECK((lease.valid_until() - Clock::now() >= timeout / 3) == each.has_a_third);
      simulation.ensemble().set_latency(0ms);
    });
}

TEST_CASE("acquires that end before a slow server answers do not pile up there") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    static_cast<void>(co_await acquire(simulation, "a"));
    const InterProcessMutex mutex{simulation.client("a", config()), directory};
    co_await pause(1s);
    simulation.ensemble().set_latency(400ms);
    const auto creates = std::make_shared<int>(0);
    simulation.ensemble().on_call([creates](const FakeCall& call) {
      if (!call.applied && call.operation == "create") ++*creates;
      return FakeFault::none;
    });
    for (int round = 0; round < 5; ++round) {
      for (int i = 0; i < 10; ++i)
        mutex.async_acquire(300ms, asio::bind_executor(simulation.executor(), [](error_code error, const Lease&) {
                              CHECK(error == Error::timed_out);
                            }));
      co_await pause(350ms);
    }
    CHECK(*creates == 20);  // once in a flight of 800 ms
    simulation.ensemble().set_latency(1ms);
    auto [error, lease] = co_await mutex.async_acquire(asio::as_tuple(asio::deferred));
    CHECK_FALSE(error);
    simulation.ensemble().on_call({});
  });
}

TEST_CASE("a held lease is renewed, so that half of the timeout is always ahead") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    co_await pause(45s);  // the session is idle before
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

TEST_CASE("a client that holds no lock renews nothing") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    { const Lease lease = co_await acquire(simulation, "a"); }
    co_await pause(timeout);
    const auto before = simulation.ensemble().counters().calls;
    co_await pause(60s);
    CHECK(simulation.ensemble().counters().calls == before);
  });
}

TEST_CASE("a lease is lost once its proof ends, no later and only once, and stays lost though the session lives") {
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
    CHECK(error == LockError::lock_lost);
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

TEST_CASE("a session that has heard nothing for its timeout has ended before a server says so") {
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
    // A round trip is 2.2 s. The proof of the handshake lasts for 10 s, and ends as the create is answered. No
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
