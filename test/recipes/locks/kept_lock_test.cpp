// A lock that its client keeps between two uses: what it asks of the server, and when it gives the lock up.
#include "kept_lock.hpp"

#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>
#include <zklock/recipes/locks/revocation.hpp>

using namespace zklock;
using namespace zklock::test;
using namespace zklock::testing;
using namespace std::chrono_literals;

TEST_CASE_METHOD(KeptFixture, "a client that keeps a lock silently asks the server for nothing") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept("a");
    co_await cycle(*this, mine);
    {
      const auto outcome = co_await cycle(*this, mine);
      CHECK(outcome == "create get_children remove");
    }
    {
      const auto outcome = co_await cycle(*this, mine);
      CHECK(outcome == "create get_children");
    }
    co_await expect_no_requests(mine);
  });
}

TEST_CASE_METHOD(KeptFixture, "a client that confirms a kept lock sends one write for each grant, and gets its token") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept("a", Keeping::confirmed);
    co_await expect_token_by_each_write(mine, "a");
  });
}

TEST_CASE_METHOD(KeptFixture, "a lock without the setting is not kept") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine{simulation.client("a", patient_config()), lock_directory, LockSettings{}};
    co_await expect_not_kept(mine);
  });
}

TEST_CASE_METHOD(KeptFixture, "a kept lock is never granted, nor released, within the call itself") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept("a");
    co_await warm_up(mine);
    sent();
    for (const asio::any_io_executor& where : {simulation.executor(), simulation.client("a").get_executor()}) {
      Lease held;
      mine.async_acquire(asio::bind_executor(where, [&](error_code, Lease got) { held = std::move(got); }));
      CHECK_FALSE(held.is_held());
      co_await a_moment();
      CHECK(held.is_held());
      bool is_released = false;
      held.async_release(asio::bind_executor(where, [&](error_code) { is_released = true; }));
      CHECK_FALSE(is_released);
      co_await a_moment();
      CHECK(is_released);
    }
    CHECK(sent().empty());  // it was the kept node
    CHECK(nodes() == 1);
  });
}

TEST_CASE_METHOD(KeptFixture, "a kept lock is given up as soon as another client asks for it, each time") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept("a");
    const InterProcessMutex theirs = mutex("b");
    co_await warm_up(mine);
    for (int i = 0; i < 4; ++i) {
      Lease next;
      co_await begin(theirs, next);
      CHECK(next.is_held());
      CHECK(nodes() == 1);
      next = Lease{};
      co_await expect_kept_after(mine, 2);
    }
  });
}

TEST_CASE_METHOD(KeptFixture, "a held lock that another client has asked for is not kept at its release") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept("a");
    const InterProcessMutex theirs = mutex("b");
    co_await expect_given_up_at_release(mine, theirs, 3);
  });
}

TEST_CASE_METHOD(KeptFixture, "a kept lock that nobody uses is given up after the time for which it is kept") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept("a");
    co_await expect_given_up_unless_used(mine);
  });
}

TEST_CASE_METHOD(KeptFixture, "a kept lock outlives its lock objects, and not its client") {
  play([&]() -> asio::awaitable<void> {
    {
      const InterProcessMutex mine = kept("a");
      co_await warm_up(mine);
    }
    CHECK(nodes() == 1);
    {
      const InterProcessMutex mine = kept("a");
      const auto outcome = co_await cycle(*this, mine);
      CHECK(outcome.empty());
    }
    simulation.close_client(0);
    co_await pause(10ms);
    CHECK(nodes() == 0);
  });
}

TEST_CASE_METHOD(KeptFixture, "a kept lock that is used looks at the queue now and then all the same") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept("a");
    co_await expect_looks(mine);
  });
}

TEST_CASE_METHOD(KeptFixture, "a lock is not kept over a lost link") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept("a");
    co_await expect_given_up_without_link(mine);
    Lease held = co_await mine.async_acquire();
    simulation.ensemble().cut_all();
    co_await pause(500ms);
    CHECK(held.is_held());
    co_await release(held);
    CHECK(nodes() == 0);
  });
}

TEST_CASE_METHOD(KeptFixture, "a watch that was set on an earlier connection keeps no lock") {
  bool cuts = false;
  fault = [&](const FakeCall& call) {
    const bool now = cuts && call.applied && call.operation == "sync";
    if (now) cuts = false;
    return now ? FakeFault::cut : FakeFault::none;
  };
  play([&]() -> asio::awaitable<void> {
    simulation.client("a", {.session_timeout = 2s, .retry = ExponentialBackoffRetry{20ms, 8}});
    simulation.client("b", patient_config());
    co_await pause(10ms);
    const InterProcessMutex mine = kept("a");
    co_await cycle(*this, mine);
    co_await count_to("b", 2);                 // whose node keeps the directory
    simulation.ensemble().set_latency(200ms);  // so that a grant waits until a sync proves that the session lives
    for (int i = 0; i < 2; ++i) co_await cycle(*this, mine);
    cuts = true;
    co_await cycle(*this, mine);
    CHECK_FALSE(cuts);
    co_await pause(500ms);
    CHECK(nodes() == 1);
  });
}

TEST_CASE_METHOD(KeptFixture, "a kept lock ends with its session") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept("a");
    co_await warm_up(mine);
    simulation.ensemble().expire(simulation.client("a").session().id());
    co_await pause(1s);
    CHECK(nodes() == 0);
    const Lease lease = co_await mine.async_acquire();
    CHECK(lease.is_held());
    CHECK(nodes() == 1);
  });
}

TEST_CASE_METHOD(KeptFixture, "a kept lock whose node an operator deletes is made anew") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept("a");
    co_await warm_up(mine);
    simulation.delete_as_operator(GENERATE(true, false) ? children().front() : lock_directory);
    co_await pause(10ms);
    Lease lease = co_await mine.async_acquire();
    CHECK(lease.is_held());
    CHECK(nodes() == 1);
    co_await release(lease);
    CHECK(nodes() == 0);
    co_await warm_up(mine);
    lease = co_await mine.async_acquire();
    simulation.delete_as_operator(children().front());
    co_await pause(10ms);
    CHECK(lease.state() == LeaseState::lost);  // the watch tells, and the holder asks
  });
}

TEST_CASE_METHOD(KeptFixture, "a request to revoke ends a keeping") {
  const Keeping keeping = GENERATE(Keeping::confirmed, Keeping::silent);
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept("a", keeping);
    co_await warm_up(mine);
    const std::string node = children().front();
    simulation.ensemble().set_data(node, std::string{revocation_request});
    if (keeping == Keeping::silent) co_await pause(1100ms);  // it reads its node now and then
    const Lease lease = co_await mine.async_acquire();
    CHECK(lease.node_path() != node);
    CHECK(nodes() == 1);
  });
}

TEST_CASE_METHOD(KeptFixture, "a lock that was given back after a request to revoke is not kept") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept("a");
    co_await warm_up(mine);
    Lease lease = co_await mine.async_acquire();
    simulation.ensemble().set_data(lease.node_path(), std::string{revocation_request});
    const auto [error] = co_await lease.async_wait_revocation(as_tuple);
    CHECK_FALSE(error);
    co_await release(lease);
    CHECK(nodes() == 0);
  });
}

TEST_CASE_METHOD(KeptFixture, "an owner enters a kept lock again without a write") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept("a", Keeping::confirmed);
    co_await warm_up(mine);
    const Owner owner = Owner::make();
    const Lease outer = co_await mine.async_acquire(owner);
    sent();
    {
      const Lease inner = co_await mine.async_acquire(owner);
      CHECK(outer.count() == 2);
      const auto [error, results] = co_await simulation.client("a").async_commit(outer.guard(), as_tuple);
      CHECK_FALSE(error);
    }
    CHECK(outer.count() == 1);
    CHECK(sent() == "commit");
  });
}

TEST_CASE_METHOD(KeptFixture, "a lock object that does not keep the lock has the client give the kept one up first") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept("a");
    const InterProcessMutex plain = mutex("a");
    co_await warm_up(mine);
    co_await expect_given_up_first(plain);
    co_await warm_up(mine);
    const InterProcessReadWriteLock other{simulation.client("a"), lock_directory};
    const Lease reading = co_await other.read_lock().async_acquire();  // another kind of lock
    CHECK(reading.is_held());
  });
}

TEST_CASE_METHOD(KeptFixture, "a client keeps a thousand locks, and deletes the nodes of the others") {
  play([&]() -> asio::awaitable<void> {
    const Client& client = simulation.client("a", patient_config());
    const auto kept_nodes = [&] {
      return std::ranges::count_if(simulation.ensemble().nodes(),
                                   [](const FakeNode& node) { return node.stat.ephemeral_owner != 0; });
    };
    for (int i = 0; i < 1'010; ++i) {
      const InterProcessMutex one{client, "/many/lock-" + std::to_string(i), {.keep = 1h, .keeping = Keeping::silent}};
      for (int n = 0; n < 3; ++n) co_await cycle(*this, one);
    }
    co_await pause(10ms);
    CHECK(kept_nodes() == 1'000);
    simulation.close_client(0);
    co_await pause(10ms);
    CHECK(kept_nodes() == 0);
  });
}
