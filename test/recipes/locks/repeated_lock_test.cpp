// What a lock costs that a client takes again and again, and what its client learns of the lock's directory.
#include "repeated_lock.hpp"

#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>

using namespace zklock;
using namespace zklock::test;
using namespace zklock::testing;
using namespace std::chrono_literals;

TEST_CASE_METHOD(RepeatedLock, "a client that takes a lock again and again sends a create and a delete each time") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = mutex("a");
    co_await cycle(*this, mine);  // which makes the directory
    {
      const auto outcome = co_await cycle(*this, mine);
      CHECK(outcome == "create get_children remove");
    }
    {
      const auto outcome = co_await cycle(*this, mine);
      CHECK(outcome == "create get_data get_children remove");
    }
    for (int i = 0; i < 5; ++i) {
      const auto outcome = co_await cycle(*this, mine);
      CHECK(outcome == "create remove");
    }
    {
      const auto outcome = co_await try_once(mine);
      CHECK(outcome == error_code{});
    }
    CHECK(sent() == "create remove");
  });
}

TEST_CASE_METHOD(RepeatedLock,
                 "readers and writers that a client lets in again and again send a create and a delete each") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessReadWriteLock lock{simulation.client("a", patient_config()), lock_directory};
    for (const InterProcessMutex* half : {&lock.write_lock(), &lock.read_lock()}) {
      for (int i = 0; i < 3; ++i) co_await cycle(*this, *half);
      for (int i = 0; i < 3; ++i) {
        const auto outcome = co_await cycle(*this, *half);
        CHECK(outcome == "create remove");
      }
    }
    {
      const auto outcome = co_await cycle(*this, lock.write_lock());
      CHECK(outcome == "create get_children remove");
    }  // behind a reader
    {
      const auto outcome = co_await cycle(*this, lock.read_lock());
      CHECK(outcome == "create remove");
    }
    const Lease reading = co_await lock.read_lock().async_acquire();
    sent();
    {
      const auto outcome = co_await cycle(*this, lock.read_lock());
      CHECK(outcome == "create remove");
    }  // beside a reader
  });
}

TEST_CASE_METHOD(RepeatedLock, "two clients that take a lock in turn list the queue in the flight of the create") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = mutex("a");
    const InterProcessMutex theirs = mutex("b");
    for (int i = 0; i < 4; ++i) co_await cycle(*this, mine);
    co_await cycle(*this, theirs);
    {
      const auto outcome = co_await cycle(*this, mine);
      CHECK(outcome == "create get_children remove");
    }  // a wrong guess
    for (int i = 0; i < 3; ++i) {
      {
        const auto outcome = co_await cycle(*this, theirs);
        CHECK(outcome == "create get_children remove");
      }
      {
        const auto outcome = co_await cycle(*this, mine);
        CHECK(outcome == "create get_children remove");
      }
    }
    {
      const auto outcome = co_await cycle(*this, mine);
      CHECK(outcome == "create get_children remove");
    }
    {
      const auto outcome = co_await cycle(*this, mine);
      CHECK(outcome == "create remove");
    }  // alone again
  });
}

TEST_CASE_METHOD(RepeatedLock,
                 "whenever the directory or the link may be another one, the next acquire lists the queue") {
  const int what = GENERATE(0, 1, 2);
  CAPTURE(what);
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = mutex("a");
    for (int i = 0; i < 4; ++i) {
      const auto outcome = co_await cycle(*this, mine);
      CHECK_FALSE(outcome.empty());
    }
    switch (what) {
      case 0: simulation.delete_as_operator(lock_directory); break;
      case 1: simulation.ensemble().cut_all(); break;
      default: break;
    }
    co_await pause(what == 2 ? 121s : 1s);
    const std::string these = co_await cycle(*this, mine);
    CAPTURE(these);
    CHECK(these.find("get_children") != std::string::npos);
  });
}

TEST_CASE_METHOD(RepeatedLock,
                 "a holder whose lock is deleted with its directory is told by the server, and waiters enqueue") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = mutex("a");
    const InterProcessMutex theirs = mutex("b");
    for (int i = 0; i < 2; ++i) co_await cycle(*this, mine);
    const Lease held = co_await mine.async_acquire();
    Lease next;
    mine.async_acquire(
        asio::bind_executor(simulation.executor(), [&](error_code, Lease lease) { next = std::move(lease); }));
    co_await pause(10ms);
    simulation.delete_as_operator(lock_directory);
    co_await pause(10ms);
    CHECK(held.state() == LeaseState::lost);
    CHECK(next.is_held());  // in the new directory
    const auto [busy, none] = co_await theirs.async_acquire(0s, as_tuple);
    CHECK(busy == Error::timed_out);
  });
}

TEST_CASE_METHOD(
    RepeatedLock,
    "the next node of a client does not follow, in a new directory, the node that its client had in the old one") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = mutex("a");
    const InterProcessMutex theirs = mutex("b");
    Lease held = co_await mine.async_acquire();  // number 0
    simulation.delete_as_operator(lock_directory);
    Lease foreign = co_await theirs.async_acquire();  // number 0 again
    Lease next;
    mine.async_acquire(
        asio::bind_executor(simulation.executor(), [&](error_code, Lease lease) { next = std::move(lease); }));
    co_await pause(10ms);
    CHECK_FALSE(next.is_held());  // its number follows that of the lock that was lost
    const auto [error] = co_await held.async_release(as_tuple);
    CHECK(error == LockError::lock_lost);
    co_await pause(10ms);
    CHECK_FALSE(next.is_held());
    foreign = Lease{};
    co_await pause(10ms);
    CHECK(next.is_held());
  });
}

TEST_CASE_METHOD(RepeatedLock, "a try after one that has failed reads the queue, and writes only if nobody is ahead") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = mutex("a");
    const InterProcessMutex theirs = mutex("b");
    Lease held = co_await theirs.async_acquire();
    sent();
    {
      const auto outcome = co_await try_once(mine);
      CHECK(outcome == Error::timed_out);
    }
    co_await pause(10ms);
    CHECK(sent() == "create get_children remove");
    for (int i = 0; i < 3; ++i) {
      {
        const auto outcome = co_await try_once(mine);
        CHECK(outcome == Error::timed_out);
      }
      CHECK(sent() == "get_children");
    }
    held = Lease{};
    co_await pause(10ms);
    sent();
    {
      const auto outcome = co_await try_once(mine);
      CHECK(outcome == error_code{});
    }
    co_await pause(10ms);
    CHECK(sent().starts_with("get_children create"));
    CHECK(nodes() == 0);
    simulation.delete_as_operator(lock_directory);
    {
      const auto outcome = co_await try_once(mine);
      CHECK(outcome == error_code{});
    }  // and makes the directory
  });
}

TEST_CASE_METHOD(RepeatedLock, "a try that fails by a list alone has seen all that its server was behind") {
  std::vector<std::string> calls;
  fault = [&](const FakeCall& call) {
    if (!call.applied) calls.emplace_back(call.operation);
    return FakeFault::none;
  };
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = mutex("a");
    const InterProcessMutex theirs = mutex("b");
    const Lease held = co_await theirs.async_acquire();
    for (int i = 0; i < 2; ++i) {
      calls.clear();
      const auto outcome = co_await try_once(mine);
      CHECK(outcome == Error::timed_out);
    }
    CHECK(calls == std::vector<std::string>{"sync", "get_children"});
  });
}
