// A read lock that its client keeps, and writers and other clients' readers beside it.
#include "kept_readers.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

using namespace zklock;
using namespace zklock::test;
using namespace zklock::testing;
using namespace std::chrono_literals;

TEST_CASE_METHOD(KeptReadersFixture,
                 "a kept read lock is given up as soon as another client's writer asks for it, each time") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessReadWriteLock mine = both("a");
    const InterProcessReadWriteLock theirs = plain("b");
    co_await warm_up(mine.read_lock());
    for (int i = 0; i < 4; ++i) {
      co_await pause(100ms);
      Lease writing;
      co_await begin(theirs.write_lock(), writing);
      CHECK(writing.is_held());
      CHECK(nodes() == 1);
      writing = Lease{};
      co_await expect_kept_after(mine.read_lock(), 1);
    }
  });
}

TEST_CASE_METHOD(KeptReadersFixture, "holders of a kept read lock drain before a writer, and nobody enters meanwhile") {
  const bool is_local = GENERATE(true, false);
  const bool is_awaited = GENERATE(true, false);
  play([&]() -> asio::awaitable<void> {
    const InterProcessReadWriteLock mine = both("a");
    const InterProcessReadWriteLock theirs = is_local ? both("a") : plain("b");
    co_await warm_up(mine.read_lock());
    co_await pause(100ms);
    Lease first = co_await mine.read_lock().async_acquire();
    Lease second = co_await mine.read_lock().async_acquire();
    Lease writing;
    co_await begin(theirs.write_lock(), writing);
    CHECK_FALSE(writing.is_held());
    Lease late;
    co_await begin(mine.read_lock(), late);
    CHECK(nodes() == 3);
    CHECK_FALSE(late.is_held());
    const auto busy = co_await try_once(mine.read_lock());
    CHECK(busy == Error::timed_out);
    first = Lease{};
    co_await pause(50ms);
    CHECK_FALSE(writing.is_held());
    CHECK(second.is_held());
    if (is_awaited) {
      const auto [error] = co_await second.async_release(as_tuple);
      CHECK_FALSE(error);
    }
    co_await release(second);
    CHECK(writing.is_held());
    CHECK_FALSE(late.is_held());
    co_await release(writing);
    CHECK(late.is_held());
  });
}

TEST_CASE_METHOD(KeptReadersFixture, "readers of other clients, and plain ones of its own, do not end a keeping") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessReadWriteLock mine = both("a");
    const InterProcessReadWriteLock theirs = plain("b");
    const InterProcessReadWriteLock own = plain("a");
    co_await warm_up(mine.read_lock());
    const std::string node = children().front();
    for (int i = 0; i < 10; ++i) {
      co_await cycle(*this, theirs.read_lock());
      co_await cycle(*this, own.read_lock());
      co_await pause(30ms);
      sent();
      const auto outcome = co_await cycle(*this, mine.read_lock());
      CHECK(outcome.empty());
    }
    CHECK(nodes() == 1);
    CHECK(children().front() == node);
  });
}

TEST_CASE_METHOD(KeptReadersFixture,
                 "two clients that keep a read lock, and both want to write, do not wait in a circle") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessReadWriteLock one = both("a");
    const InterProcessReadWriteLock other = both("b");
    for (int i = 0; i < 3; ++i) {
      co_await cycle(*this, one.read_lock());
      co_await cycle(*this, other.read_lock());
    }
    CHECK(nodes() == 2);
    Lease first;
    Lease second;
    co_await begin(one.write_lock(), first);
    co_await begin(other.write_lock(), second);
    co_await pause(50ms);
    CHECK(first.is_held());
    co_await release(first);
    CHECK(second.is_held());
    CHECK(nodes() == 1);
  });
}

TEST_CASE_METHOD(KeptReadersFixture, "a writer costs each client that keeps the read lock one list and one delete") {
  constexpr int readers = 8;
  play([&]() -> asio::awaitable<void> {
    std::vector<InterProcessReadWriteLock> all;
    for (int i = 0; i < readers; ++i) all.push_back(both("reader-" + std::to_string(i)));
    const InterProcessReadWriteLock theirs = plain("writer");
    for (int round = 0; round < 3; ++round)
      for (const auto& each : all) co_await cycle(*this, each.read_lock());
    CHECK(nodes() == readers);
    co_await pause(100ms);
    calls.clear();
    Lease writing;
    co_await begin(theirs.write_lock(), writing);
    co_await pause(20ms);
    CHECK(writing.is_held());
    for (int i = 0; i < readers; ++i) {
      CHECK(sent_by("reader-" + std::to_string(i), "get_children") == 1);
      CHECK(sent_by("reader-" + std::to_string(i), "remove") == 1);
    }
  });
}

TEST_CASE_METHOD(KeptReadersFixture,
                 "a client that keeps a read lock lists the queue once in a while as readers come and go") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessReadWriteLock mine = both("a");
    const InterProcessReadWriteLock theirs = plain("b");
    co_await warm_up(mine.read_lock());
    co_await pause(10ms);
    const int before = sent_by("a", "get_children");
    for (int i = 0; i < 200; ++i) {
      const Lease reading = co_await theirs.read_lock().async_acquire();
      co_await pause(1ms);
    }
    const int lists = sent_by("a", "get_children") - before;
    CHECK(lists >= 5);
    CHECK(lists <= 12);  // in 200 ms
    CHECK(nodes() == 1);
  });
}

TEST_CASE_METHOD(KeptReadersFixture, "a writer gets a lock that readers of four clients keep, and use all the time") {
  play([&]() -> asio::awaitable<void> {
    bool is_over = false;
    int left = 0;
    for (int user = 0; user < 8; ++user) {
      ++left;
      asio::co_spawn(
          simulation.executor(),
          [](InterProcessReadWriteLock lock, const bool& over, int& users) -> asio::awaitable<void> {
            while (!over) {
              const Lease lease = co_await lock.read_lock().async_acquire();
              co_await pause(1ms);
            }
            --users;
          }(both("reader-" + std::to_string(user % 4)), is_over, left),
          asio::detached);
    }
    const InterProcessReadWriteLock theirs = plain("writer");
    for (int round = 0; round < 5; ++round) {
      co_await pause(200ms);
      CHECK(nodes() == 4);
      const auto [error, lease] = co_await theirs.write_lock().async_acquire(100ms, as_tuple);
      CHECK_FALSE(error);
    }
    is_over = true;
    while (left > 0) co_await pause(10ms);
  });
}

TEST_CASE_METHOD(KeptReadersFixture, "a kept read lock that is held for longer than it may be kept stays held") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessReadWriteLock mine = both("a");
    const InterProcessReadWriteLock theirs = plain("b");
    co_await expect_held_for_long(mine.read_lock(), theirs.write_lock());
  });
}

TEST_CASE_METHOD(HiddenEvents<KeptReadersFixture>,
                 "a client whose event is lost sees a writer when it looks at the queue again") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessReadWriteLock mine = both("a");
    co_await expect_given_up_at_a_look(mine.read_lock(), "__WRIT__");
  });
}
