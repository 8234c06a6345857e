// A read lock that its client keeps: one node for all its readers, and when the client gives it up.
#include "kept_readers.hpp"

#include <zklock/recipes/locks/revocation.hpp>

using namespace zklock;
using namespace zklock::test;
using namespace zklock::testing;
using namespace std::chrono_literals;

TEST_CASE_METHOD(KeptReadersFixture, "a client that keeps a read lock silently asks the server for nothing") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessReadWriteLock mine = both("a");
    co_await cycle(*this, mine.read_lock());
    {
      const auto outcome = co_await cycle(*this, mine.read_lock());
      CHECK(outcome == "create get_children");
    }
    co_await expect_no_requests(mine.read_lock());
  });
}

TEST_CASE_METHOD(KeptReadersFixture, "readers of one client hold a kept read lock together, by one node") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessReadWriteLock mine = both("a");
    co_await warm_up(mine.read_lock());
    sent();
    std::vector<Lease> leases;
    for (int i = 0; i < 5; ++i) leases.push_back(co_await mine.read_lock().async_acquire());
    CHECK(sent().empty());
    CHECK(nodes() == 1);
    for (const Lease& each : leases) {
      CHECK(each.is_held());
      CHECK(each.fencing_token() == leases.front().fencing_token());
      CHECK(each.node_path() == children().front());
    }
    for (Lease& each : leases) co_await each.async_release();
    CHECK(sent().empty());
    CHECK(nodes() == 1);
  });
}

TEST_CASE_METHOD(KeptReadersFixture, "a read lock is not kept where grants are to be confirmed") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessReadWriteLock mine = both("a", Keeping::confirmed);
    co_await expect_not_kept(mine.read_lock());
  });
}

TEST_CASE_METHOD(KeptReadersFixture, "an owner enters a kept read lock again, and cannot have the write lock besides") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessReadWriteLock mine = both("a");
    co_await warm_up(mine.read_lock());
    const Owner owner = Owner::make();
    Lease outer = co_await mine.read_lock().async_acquire(owner);
    {
      const Lease inner = co_await mine.read_lock().async_acquire(owner);
      CHECK(outer.count() == 2);
    }
    CHECK(outer.count() == 1);
    const auto [error, none] = co_await mine.write_lock().async_acquire(owner, as_tuple);
    CHECK(error == Error::would_deadlock);
    CHECK(outer.is_held());
    outer = Lease{};
    const auto [unhindered, lease] = co_await mine.write_lock().async_acquire(owner, as_tuple);
    CHECK_FALSE(unhindered);
  });
}

TEST_CASE_METHOD(KeptReadersFixture, "a client whose kept read lock nobody holds may have the write lock at once") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessReadWriteLock mine = both("a");
    co_await warm_up(mine.read_lock());
    co_await expect_given_up_first(mine.write_lock());
  });
}

TEST_CASE_METHOD(KeptReadersFixture, "a reader beside its owner's write lock is not kept") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessReadWriteLock mine = both("a");
    co_await cycle(*this, mine.read_lock());
    const Owner owner = Owner::make();
    Lease writing = co_await mine.write_lock().async_acquire(owner);
    Lease reading = co_await mine.read_lock().async_acquire(owner);
    co_await writing.async_release();
    CHECK(reading.is_held());
    co_await reading.async_release();
    CHECK(nodes() == 0);
  });
}

TEST_CASE_METHOD(KeptReadersFixture,
                 "a kept read lock that nobody uses is given up after the time for which it is kept") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessReadWriteLock mine = both("a");
    co_await expect_given_up_unless_used(mine.read_lock());
  });
}

TEST_CASE_METHOD(KeptReadersFixture, "a kept read lock that is used looks at the queue now and then all the same") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessReadWriteLock mine = both("a");
    co_await expect_looks(mine.read_lock());
  });
}

TEST_CASE_METHOD(KeptReadersFixture, "a read lock is not kept over a lost link") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessReadWriteLock mine = both("a");
    co_await expect_given_up_without_link(mine.read_lock());
    Lease held = co_await mine.read_lock().async_acquire();
    Lease beside = co_await mine.read_lock().async_acquire();
    simulation.ensemble().cut_all();
    co_await pause(500ms);
    CHECK(held.is_held());
    CHECK(beside.is_held());
    co_await release(held);
    CHECK(nodes() == 1);
    co_await release(beside);
    CHECK(nodes() == 0);
  });
}

TEST_CASE_METHOD(KeptReadersFixture, "an owner with an acquire in progress does not enter a kept read lock beside it") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessReadWriteLock mine = both("a");
    co_await warm_up(mine.read_lock());
    simulation.ensemble().set_latency(5ms);
    const Owner owner = Owner::make();
    Lease first;
    plain("a").read_lock().async_acquire(
        owner, asio::bind_executor(simulation.executor(), [&](error_code, Lease lease) { first = std::move(lease); }));
    co_await pause(1ms);
    Lease second = co_await mine.read_lock().async_acquire(owner);
    CHECK(first.count() == 2);
    CHECK(second.count() == 2);
    const auto [error, none] = co_await mine.write_lock().async_acquire(owner, as_tuple);
    CHECK(error == Error::would_deadlock);
    for (Lease* each : {&first, &second}) *each = Lease{};
    co_await pause(50ms);
  });
}

TEST_CASE_METHOD(KeptReadersFixture, "a kept read lock ends with its session, for all its holders") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessReadWriteLock mine = both("a");
    co_await warm_up(mine.read_lock());
    const Lease one = co_await mine.read_lock().async_acquire();
    const Lease other = co_await mine.read_lock().async_acquire();
    simulation.ensemble().expire(simulation.client("a").session().id());
    co_await pause(1s);
    CHECK(nodes() == 0);
    CHECK(one.state() == LeaseState::lost);
    CHECK(other.state() == LeaseState::lost);
    const Lease lease = co_await mine.read_lock().async_acquire();
    CHECK(lease.is_held());
    CHECK(nodes() == 1);
  });
}

TEST_CASE_METHOD(KeptReadersFixture, "all holders of a kept read lock lose it when an operator deletes the node") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessReadWriteLock mine = both("a");
    co_await warm_up(mine.read_lock());
    Lease one = co_await mine.read_lock().async_acquire();
    Lease other = co_await mine.read_lock().async_acquire();
    simulation.delete_as_operator(GENERATE(true, false) ? children().front() : lock_directory);
    co_await pause(50ms);
    CHECK(one.state() == LeaseState::lost);
    CHECK(other.state() == LeaseState::lost);
    const auto [error] = co_await one.async_release(as_tuple);
    CHECK(error == LockError::lock_lost);
    other = Lease{};
    const Lease lease = co_await mine.read_lock().async_acquire();
    CHECK(lease.is_held());
    CHECK(nodes() == 1);
  });
}

TEST_CASE_METHOD(KeptReadersFixture, "a request to revoke ends the keeping of a read lock") {
  const bool is_held = GENERATE(true, false);
  play([&]() -> asio::awaitable<void> {
    const InterProcessReadWriteLock mine = both("a");
    co_await warm_up(mine.read_lock());
    const std::string node = children().front();
    Lease held;
    if (is_held) held = co_await mine.read_lock().async_acquire();
    simulation.ensemble().set_data(node, std::string{revocation_request});
    co_await pause(1100ms);  // it reads its node now and then
    Lease lease = co_await mine.read_lock().async_acquire();
    CHECK(lease.node_path() != node);
    CHECK(nodes() == (is_held ? 2 : 1));
    co_await release(held);
    CHECK(nodes() == 1);
  });
}

TEST_CASE_METHOD(KeptReadersFixture, "a read lock that was given back after a request to revoke is not kept") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessReadWriteLock mine = both("a");
    co_await warm_up(mine.read_lock());
    Lease lease = co_await mine.read_lock().async_acquire();
    simulation.ensemble().set_data(lease.node_path(), std::string{revocation_request});
    const auto [error] = co_await lease.async_wait_revocation(as_tuple);
    CHECK_FALSE(error);
    co_await release(lease);
    CHECK(nodes() == 0);
  });
}

TEST_CASE_METHOD(KeptReadersFixture, "a kept read lock outlives its lock objects, and not its client") {
  play([&]() -> asio::awaitable<void> {
    {
      const InterProcessReadWriteLock mine = both("a");
      co_await warm_up(mine.read_lock());
    }
    CHECK(nodes() == 1);
    {
      const InterProcessReadWriteLock mine = both("a");
      const auto outcome = co_await cycle(*this, mine.read_lock());
      CHECK(outcome.empty());
    }
    simulation.close_client(0);
    co_await pause(10ms);
    CHECK(nodes() == 0);
  });
}

TEST_CASE_METHOD(KeptReadersFixture, "an acquire that is cancelled as a kept read lock is granted leaves no holder") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessReadWriteLock mine = both("a");
    co_await warm_up(mine.read_lock());
    asio::cancellation_signal cancel;
    int completions = 0;
    const Owner owner = Owner::make();
    {
      const Lease first = co_await mine.read_lock().async_acquire(owner);
      mine.read_lock().async_acquire(asio::bind_cancellation_slot(
          cancel.slot(), asio::bind_executor(simulation.executor(), [&](error_code, const Lease&) { ++completions; })));
      cancel.emit(asio::cancellation_type::terminal);
      co_await pause(10ms);
    }
    CHECK(completions == 1);
    const auto outcome = co_await cycle(*this, mine.write_lock());  // would wait for a holder
    CHECK(outcome.starts_with("remove create"));
  });
}
