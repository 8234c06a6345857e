// A client that keeps a lock, another one that wants it now and then, and how soon the lock is kept again.
#include "kept_lock.hpp"

#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>
#include <zklock/recipes/locks/inter_process_semaphore_mutex.hpp>

#include <algorithm>

using namespace zklock;
using namespace zklock::test;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

struct Again : RepeatedLock {
  LockSettings keep(Keeping keeping) { return {.keep = 2s, .keeping = keeping}; }
  const Client& client(const std::string& name) { return simulation.client(name, patient_config()); }

  template <class Lock>
  asio::awaitable<std::string> use(const Lock& lock) {
    sent();
    auto [error, lease] = co_await lock.async_acquire(as_tuple);
    CHECK_FALSE(error);
    const auto [failed] = co_await lease.async_release(as_tuple);
    CHECK_FALSE(failed);
    co_await pause(10ms);
    co_return sent();
  }
  template <class Lock>
  asio::awaitable<void> use_often(const Lock& lock, int times) {
    for (int i = 0; i < times; ++i) co_await use(lock);
  }
  /// How many acquires in a row make a node, until one does not.
  template <class Lock>
  asio::awaitable<int> acquires_that_ask(const Lock& lock) {
    for (int asked = 0;; ++asked) {
      const auto requests_of_one = co_await use(lock);
      if (requests_of_one.find("create") == std::string::npos) co_return asked;
    }
  }
  /// A stint of so many grants without a new node, then the other client's use.
  template <class Lock>
  asio::awaitable<int> asked_after(const Lock& mine, const Lock& theirs, int grants) {
    co_await acquires_that_ask(mine);  // the last of them was granted by the kept node
    co_await use_often(mine, grants - 1);
    co_await use(theirs);
    co_return co_await acquires_that_ask(mine);
  }
  template <class Lock>
  asio::awaitable<void> check_memory(const Lock& mine, const Lock& theirs) {
    const auto after_few = co_await asked_after(mine, theirs, 7);
    CHECK(after_few == 3);
    const auto after_enough = co_await asked_after(mine, theirs, 8);
    CHECK(after_enough == 1);
    const auto after_many = co_await asked_after(mine, theirs, 30);
    CHECK(after_many == 3);  // not twice in a row
    const auto after_few_again = co_await asked_after(mine, theirs, 2);
    CHECK(after_few_again == 3);
  }
  /// How many requests both clients send for so many turns.
  template <class Lock>
  asio::awaitable<std::ptrdiff_t> take_turns(const Lock& mine, const Lock& theirs, int turns) {
    std::string all;
    for (int i = 0; i < turns; ++i) {
      for (const Lock* each : {&mine, &theirs}) {
        const auto requests_of_one = co_await use(*each);
        all += requests_of_one + " ";
      }
    }
    co_return std::ranges::count(all, ' ');
  }
  template <class Lock>
  asio::awaitable<void> check_turns(const Lock& mine, const Lock& theirs, const Lock& plain, const Lock& their_plain) {
    co_await use(their_plain);  // makes the directory
    const auto not_kept = co_await take_turns(plain, their_plain, 10);
    const auto of_keepers = co_await take_turns(mine, theirs, 10);
    CHECK(of_keepers == not_kept);
    co_await acquires_that_ask(mine);
    co_await use_often(mine, 20);
    co_await use(theirs);
    const auto after_a_stint = co_await take_turns(mine, theirs, 10);
    CHECK(after_a_stint <= not_kept + 3);  // the lock is kept once more, and asked for
    const auto later = co_await take_turns(mine, theirs, 10);
    CHECK(later == not_kept);
  }
};

}  // namespace

TEST_CASE_METHOD(Again, "after another client's visit one acquire makes a node if the keeping has paid, else three") {
  const Keeping keeping = GENERATE(Keeping::confirmed, Keeping::silent);
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine{client("a"), lock_directory, keep(keeping)};
    const InterProcessMutex theirs{client("b"), lock_directory};
    co_await check_memory(mine, theirs);
  });
}

TEST_CASE_METHOD(Again, "a write lock is kept again at once if the keeping has paid") {
  const Keeping keeping = GENERATE(Keeping::confirmed, Keeping::silent);
  play([&]() -> asio::awaitable<void> {
    const InterProcessReadWriteLock mine{client("a"), lock_directory, keep(keeping)};
    const InterProcessReadWriteLock theirs{client("b"), lock_directory};
    co_await check_memory(mine.write_lock(), theirs.write_lock());
  });
}

TEST_CASE_METHOD(Again, "a semaphore mutex is kept again at once if the keeping has paid") {
  const Keeping keeping = GENERATE(Keeping::confirmed, Keeping::silent);
  play([&]() -> asio::awaitable<void> {
    const InterProcessSemaphoreMutex mine{client("a"), lock_directory, keep(keeping)};
    const InterProcessSemaphoreMutex theirs{client("b"), lock_directory};
    co_await check_memory(mine, theirs);
  });
}

TEST_CASE_METHOD(Again, "clients that keep a lock and take turns send no more requests than those that do not") {
  const Keeping keeping = GENERATE(Keeping::confirmed, Keeping::silent);
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine{client("a"), lock_directory, keep(keeping)};
    const InterProcessMutex theirs{client("b"), lock_directory, keep(keeping)};
    const InterProcessMutex plain{client("a"), lock_directory};
    const InterProcessMutex their_plain{client("b"), lock_directory};
    co_await check_turns(mine, theirs, plain, their_plain);
  });
}

TEST_CASE_METHOD(Again, "clients that keep a semaphore mutex and take turns send no more requests than others") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessSemaphoreMutex mine{client("a"), lock_directory, keep(Keeping::silent)};
    const InterProcessSemaphoreMutex theirs{client("b"), lock_directory, keep(Keeping::silent)};
    const InterProcessSemaphoreMutex plain{client("a"), lock_directory};
    const InterProcessSemaphoreMutex their_plain{client("b"), lock_directory};
    co_await check_turns(mine, theirs, plain, their_plain);
  });
}

TEST_CASE_METHOD(KeptFixture,
                 "an acquire that has waited for another client leaves it to the next one to keep the lock") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept("a");
    const InterProcessMutex theirs = mutex("b");
    co_await warm_up(mine);
    for (int i = 0; i < 20; ++i) co_await cycle(*this, mine);
    Lease visit;
    co_await begin(theirs, visit);
    CHECK(visit.is_held());
    Lease waits;
    co_await begin(mine, waits);
    CHECK_FALSE(waits.is_held());
    visit = Lease{};
    co_await pause(10ms);
    CHECK(waits.is_held());
    waits = Lease{};
    co_await pause(10ms);
    CHECK(nodes() == 0);
    sent();
    const auto outcome = co_await cycle(*this, mine);
    CHECK(outcome == "create get_children");
    CHECK(nodes() == 1);
  });
}

TEST_CASE_METHOD(KeptFixture,
                 "a lock is not kept while another client is in the queue, whatever the keeping has paid") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept("a");
    const InterProcessMutex theirs = mutex("b");
    const InterProcessMutex third = mutex("c");
    co_await warm_up(mine);
    for (int i = 0; i < 20; ++i) co_await cycle(*this, mine);
    Lease visit;
    co_await begin(theirs, visit);
    Lease waits;
    Lease behind;
    co_await begin(mine, waits);
    co_await begin(third, behind);
    visit = Lease{};
    co_await pause(10ms);
    CHECK(waits.is_held());
    waits = Lease{};
    co_await pause(10ms);
    CHECK(behind.is_held());
    const auto busy = co_await try_once(mine);
    CHECK(busy == Error::timed_out);
    CHECK(nodes() == 1);
  });
}
