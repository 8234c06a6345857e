// A lock that its client keeps between two uses, and those that wait for it.
#include "kept_lock.hpp"

#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>

#include <boost/asio/post.hpp>

using namespace zklock;
using namespace zklock::test;
using namespace zklock::testing;
using namespace std::chrono_literals;

TEST_CASE_METHOD(KeptFixture, "local waiters of a lock that may be kept have no nodes, and are served in order") {
  const Keeping keeping = GENERATE(Keeping::confirmed, Keeping::silent);
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept("a", keeping);
    co_await expect_waiters_in_order(mine);
  });
}

TEST_CASE_METHOD(KeptFixture, "a local waiter that is cancelled as it is let in gives the lock to the next") {
  const Keeping keeping = GENERATE(Keeping::confirmed, Keeping::silent);
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept("a", keeping);
    co_await warm_up(mine);
    Lease first = co_await mine.async_acquire();
    asio::cancellation_signal cancel;
    error_code outcome;
    mine.async_acquire(asio::bind_cancellation_slot(
        cancel.slot(),
        asio::bind_executor(simulation.executor(), [&](error_code error, const Lease&) { outcome = error; })));
    co_await pause(10ms);
    Lease next;
    co_await begin(mine, next);
    cancel.emit(asio::cancellation_type::terminal);  // carried out when the first one's release has let it in
    co_await release(first);
    CHECK(outcome == asio::error::operation_aborted);
    CHECK(next.is_held());
    next = Lease{};
    const auto again = co_await try_once(mine);
    CHECK(again == error_code{});
    CHECK(nodes() == 1);
  });
}

TEST_CASE_METHOD(KeptFixture, "local waiters make their nodes in order when another client comes") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept("a");
    const InterProcessMutex theirs = mutex("b");
    co_await warm_up(mine);
    std::vector<Lease> leases(4);
    for (Lease& each : leases) co_await begin(&each == &leases[3] ? theirs : mine, each);
    CHECK(nodes() == 4);
    for (const int next : {0, 3, 1, 2}) {  // the other client is ahead of those that had no nodes
      const auto at = static_cast<std::size_t>(next);
      CHECK(leases[at].is_held());
      co_await release(leases[at]);
    }
    CHECK(nodes() == 0);
  });
}

TEST_CASE_METHOD(KeptFixture, "a crowd of local waiters comes to keep the lock") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept("a");
    int left = 8;
    for (int user = 0; user < 8; ++user)
      asio::co_spawn(
          simulation.executor(),
          [](const InterProcessMutex& lock, int& users) -> asio::awaitable<void> {
            for (int i = 0; i < 50; ++i) {
              Lease lease = co_await lock.async_acquire();
              co_await pause(1ms);
            }
            --users;
          }(mine, left),
          asio::detached);
    co_await pause(200ms);
    CHECK(nodes() == 1);
    sent();
    co_await pause(100ms);
    CHECK(sent().empty());
    while (left > 0) co_await pause(10ms);
  });
}

TEST_CASE_METHOD(KeptFixture, "a confirmation that another client's event overtakes gives no lock") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept("a", Keeping::confirmed);
    const InterProcessMutex theirs = mutex("b");
    co_await warm_up(mine);
    co_await cycle(*this, theirs);
    co_await warm_up(mine);
    simulation.ensemble().set_latency(1ms);
    Lease lease;
    Lease next;
    fault =
        [&](const FakeCall& call) {  // the write arrives behind the other client's create, its event ahead of the reply
          if (call.applied && call.operation == "create")
            asio::post(simulation.executor(), [&] {
              if (!lease.node_path().empty() || next.is_held()) return;
              mine.async_acquire(asio::bind_executor(simulation.executor(),
                                                     [&lease](error_code, Lease got) { lease = std::move(got); }));
            });
          if (call.applied && call.operation == "create") fault = nullptr;
          return FakeFault::none;
        };
    co_await begin(theirs, next);
    co_await pause(20ms);
    CHECK(next.is_held());
    CHECK_FALSE(lease.is_held());
    const std::int64_t token = next.fencing_token();
    next = Lease{};
    co_await pause(20ms);
    CHECK(lease.is_held());
    CHECK(lease.fencing_token() > token);
  });
}

TEST_CASE_METHOD(KeptFixture, "a poller with tries gets a lock that another client keeps, and uses all the time") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept("a");
    const InterProcessMutex theirs = mutex("b");
    co_await expect_poller_served(mine, theirs);
  });
}

TEST_CASE_METHOD(KeptFixture, "a client keeps a write lock, and gives it up to its own reader") {
  play([&]() -> asio::awaitable<void> {
    const auto lock = kept<InterProcessReadWriteLock>("a");
    co_await warm_up(lock.write_lock());
    {
      const auto outcome = co_await cycle(*this, lock.write_lock());
      CHECK(outcome.empty());
    }
    co_await expect_given_up_first(lock.read_lock());
    co_await warm_up(lock.write_lock());
    const Owner owner = Owner::make();
    Lease writing = co_await lock.write_lock().async_acquire(owner);
    const Lease reading = co_await lock.read_lock().async_acquire(owner);
    co_await release(writing);
    CHECK(nodes() == 1);  // the reader's
    CHECK(reading.is_held());
  });
}

TEST_CASE_METHOD(KeptFixture,
                 "a local acquire without a node gets the lock when the one in the queue has released it") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept("a");
    co_await cycle(*this, mine);
    Lease first = co_await mine.async_acquire();  // its node cannot be kept yet
    Lease second;
    Lease third;
    co_await begin(mine, second);
    co_await begin(mine, third);
    CHECK(nodes() == 1);
    co_await release(first);
    CHECK(second.is_held());
    CHECK(nodes() == 1);
    co_await release(second);
    CHECK(third.is_held());
    CHECK(third.fencing_token() > 0);
    co_await release(third);
    CHECK(nodes() == 1);  // kept
  });
}

TEST_CASE_METHOD(KeptFixture, "a lock that is held for longer than it may be kept stays held") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept("a");
    const InterProcessMutex theirs = mutex("b");
    co_await expect_held_for_long(mine, theirs);
  });
}

TEST_CASE_METHOD(HiddenEvents<KeptFixture>,
                 "a client whose event is lost gives a kept lock up when it looks at the queue again") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept("a");
    co_await expect_given_up_at_a_look(mine, "lock-");
  });
}
