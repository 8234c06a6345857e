// InterProcessSemaphoreMutex against a healthy server, and with sessions that end.
#include "support/catch.hpp"
#include "support/lock_fixture.hpp"
#include "support/semaphore.hpp"

#include <zklock/recipes/locks/inter_process_semaphore_mutex.hpp>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

using namespace zklock;
using namespace zklock::test;

namespace {

struct Fixture : LockFixture {
  InterProcessSemaphoreMutex mutex{client, path};

  [[nodiscard]] std::size_t queue_length() const { return children_of(session, path + "/locks").size(); }
  [[nodiscard]] bool nothing_left() const { return semaphore_leaves_no_trace(server, session, path); }
  [[nodiscard]] Session end_session() const {
    const Session victim = connected_session(client);
    const SessionCredentials credentials = victim.credentials();
    server.end_session(credentials.id, {credentials.password.data(), credentials.password.size()});
    return victim;
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a semaphore mutex is a lock of the standard library, with one holder at a time") {
  InterProcessSemaphoreMutex other{client, path};
  CHECK_FALSE(mutex.is_acquired_in_this_process());
  {
    const std::unique_lock guard{mutex};
    CHECK(mutex.is_acquired_in_this_process());
    CHECK(mutex.fencing_token() > 0);
    CHECK(other.fencing_token() == 0);
    CHECK_FALSE(other.try_lock());
    CHECK_FALSE(other.try_lock_for(20ms));
    CHECK_FALSE(other.try_lock_until(std::chrono::steady_clock::now() + 20ms));
    CHECK_FALSE(other.acquire(20ms));
  }
  {
    const std::unique_lock guard{other, 10s};
    CHECK(guard.owns_lock());
  }
  CHECK(nothing_left());
  CHECK_FALSE(mutex.is_acquired_in_this_process());
  CHECK(mutex.fencing_token() == 0);
}

TEST_CASE_METHOD(Fixture,
                 "a semaphore mutex is not entered again: its holder waits, or gets an error if that is for ever") {
  mutex.acquire();
  const std::int64_t token = mutex.fencing_token();
  CHECK(thrown_by([&] { mutex.acquire(); }) == Error::would_deadlock);
  CHECK(thrown_by([&] { mutex.lock(); }) == Error::would_deadlock);
  CHECK_FALSE(mutex.acquire(30ms));
  CHECK_FALSE(mutex.try_lock());
  CHECK(mutex.fencing_token() == token);  // a wait in vain does not harm the held mutex
  mutex.release();
  CHECK(mutex.try_lock());
  mutex.unlock();
  CHECK(nothing_left());
}

TEST_CASE_METHOD(Fixture, "a semaphore mutex is released by any thread, and once") {
  CHECK(thrown_by([&] { mutex.release(); }) == LockError::not_owner);
  CHECK(thrown_by([&] { mutex.unlock(); }) == LockError::not_owner);
  mutex.acquire();
  std::thread waiter{[&] {
    mutex.acquire();  // by the same object, and another thread
    mutex.release();
  }};
  REQUIRE(eventually([&] { return queue_length() == 1; }));
  std::thread{[&] { mutex.release(); }}.join();
  waiter.join();
  CHECK(thrown_by([&] { mutex.release(); }) == LockError::not_owner);
  CHECK(nothing_left());
}

TEST_CASE_METHOD(Fixture, "a semaphore mutex is acquired asynchronously, too, and its holder can be listed") {
  Lease lease =
      std::get<1>(outcome_of_operation<Lease>([&](auto token) { mutex.async_acquire(10s, std::move(token)); }));
  CHECK(lease.is_held());
  CHECK(mutex.is_acquired_in_this_process());
  CHECK(thrown_by([&] { mutex.release(); }) == LockError::not_owner);  // the lease holds it
  const auto holders = std::get<1>(outcome_of_operation<std::vector<LockParticipant>>(
      [&](auto token) { mutex.async_participants(std::move(token)); }));
  REQUIRE(holders.size() == 1);
  CHECK(holders.front().fencing_token == lease.fencing_token());
  Pending<Lease> waiter;
  mutex.async_acquire(waiter.handler());
  CHECK_FALSE(waiter.ready(50ms));
  lease = Lease{};
  CHECK(std::get<1>(waiter.get()).is_held());
}

TEST_CASE_METHOD(Fixture, "a semaphore mutex is released when its object is destroyed") {
  {
    InterProcessSemaphoreMutex temporary{client, path};
    temporary.acquire();
    InterProcessSemaphoreMutex moved{std::move(temporary)};
    CHECK(mutex.is_acquired_in_this_process());
  }
  CHECK(mutex.acquire(10s));
  mutex.release();
  CHECK(nothing_left());
}

TEST_CASE_METHOD(Fixture, "a thread that lost a semaphore mutex gets an error, and does not release another thread's") {
  mutex.acquire();
  const std::int64_t token = mutex.fencing_token();
  const Session lost = end_session();
  REQUIRE(eventually([&] { return is_final(lost.state()); }));
  CHECK(mutex.fencing_token() == 0);
  CHECK_FALSE(mutex.is_acquired_in_this_process());
  CHECK(thrown_by([&] { mutex.acquire(); }) == LockError::lock_lost);
  CHECK(thrown_by([&] { static_cast<void>(mutex.try_lock()); }) == LockError::lock_lost);
  std::thread next{[&] {
    mutex.acquire();
    CHECK(mutex.fencing_token() > token);
  }};
  next.join();
  CHECK(mutex.fencing_token() == 0);
  CHECK(thrown_by([&] { mutex.release(); }) == LockError::lock_lost);
  CHECK(mutex.is_acquired_in_this_process());  // by the other thread
  CHECK(mutex.fencing_token() > token);
  mutex.release();  // any thread may release it
  CHECK(thrown_by([&] { mutex.release(); }) == LockError::not_owner);
  CHECK(mutex.acquire(10s));
  mutex.release();
}

TEST_CASE_METHOD(Fixture, "a waiter for a semaphore mutex gets it when the holder's session ends") {
  const Client other = make_client(server);
  InterProcessSemaphoreMutex theirs{other, path};
  mutex.acquire();
  const std::int64_t token = mutex.fencing_token();
  std::thread waiter{[&] { theirs.acquire(); }};
  REQUIRE(eventually([&] { return children_of(connected_session(other), path + "/locks").size() == 1; }));
  static_cast<void>(end_session());
  waiter.join();
  CHECK(theirs.fencing_token() > token);
  theirs.release();
  CHECK(thrown_by([&] { mutex.release(); }) == LockError::lock_lost);
}

TEST_CASE_METHOD(Fixture, "10 threads of two clients hold a semaphore mutex one at a time, with growing tokens") {
  const Client other = make_client(server);
  InterProcessSemaphoreMutex theirs{other, path};
  std::atomic<int> inside{0};
  std::atomic<int> overlaps{0};
  std::atomic<int> disorder{0};
  std::atomic<std::int64_t> last{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 10; ++i)
    threads.emplace_back([&, &lock = i % 2 ? mutex : theirs] {
      for (int turn = 0; turn < 10; ++turn) {
        const std::unique_lock guard{lock};
        if (++inside != 1) ++overlaps;
        const std::int64_t token = lock.fencing_token();
        if (last.exchange(token) >= token) ++disorder;
        --inside;
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(overlaps == 0);
  CHECK(disorder == 0);
  CHECK(nothing_left());
}

TEST_CASE_METHOD(Fixture, "a semaphore mutex in a namespace works there") {
  InterProcessSemaphoreMutex inside{client.using_namespace("apart"), path};
  inside.acquire();
  CHECK(children_of(session, "/apart" + path + "/leases").size() == 1);
  CHECK(mutex.try_lock());
  mutex.unlock();
  inside.release();
  CHECK(thrown_by([&] { InterProcessSemaphoreMutex(client, "relative"); }) == LockError::invalid_lock_path);
}

TEST_CASE_METHOD(Fixture, "threads of clients that keep a semaphore mutex, and of one that does not, come in turn") {
  const Keeping keeping = GENERATE(Keeping::confirmed, Keeping::silent);
  const LockSettings settings{.keep = 2s, .keeping = keeping, .local_hand_overs = 2};
  const Client second_client = make_client(server);
  const Client third_client = make_client(server);
  InterProcessSemaphoreMutex first{client, path, settings};
  InterProcessSemaphoreMutex second{second_client, path, settings};
  InterProcessSemaphoreMutex third{third_client, path};
  std::atomic<int> inside{0};
  std::atomic<int> overlaps{0};
  std::atomic<int> visits{0};
  const auto visit = [&](InterProcessSemaphoreMutex& each, int times) {
    for (int i = 0; i < times; ++i) {
      const std::lock_guard guard{each};
      if (inside.fetch_add(1) != 0) ++overlaps;
      ++visits;
      --inside;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (InterProcessSemaphoreMutex* each : {&first, &first, &first, &second, &second, &third})
      threads.emplace_back([&visit, each] { visit(*each, 60); });
  }
  CHECK(visits == 6 * 60);
  CHECK(overlaps == 0);
}

TEST_CASE_METHOD(Fixture, "a semaphore mutex that a client keeps goes to another client that asks for it") {
  const Keeping keeping = GENERATE(Keeping::confirmed, Keeping::silent);
  const Client other_client = make_client(server);
  InterProcessSemaphoreMutex kept{client, path, {.keep = 60s, .keeping = keeping}};
  InterProcessSemaphoreMutex other{other_client, path};
  for (int round = 0; round < 3; ++round) {
    const auto use_once = [&] { const std::lock_guard guard{kept}; };
    REQUIRE(is_kept_soon(session, path + "/leases", use_once));
    kept.lock();
    const std::int64_t token = kept.fencing_token();
    kept.unlock();
    REQUIRE(other.acquire(10s));
    CHECK(other.fencing_token() > token);
    other.release();
  }
  CHECK(nothing_left());
}
