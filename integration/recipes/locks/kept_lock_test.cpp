// Locks that clients keep between two uses, on a real server.
#include "support/catch.hpp"
#include "support/lock_fixture.hpp"
#include "support/operations.hpp"
#include "support/repeats.hpp"

#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>
#include <zklock/recipes/locks/revocation.hpp>

#include <atomic>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <thread>
#include <vector>

using namespace zklock;
using namespace zklock::test;

namespace {

constexpr LockSettings confirmed{.keep = 2s, .keeping = Keeping::confirmed};
constexpr LockSettings silent{.keep = 2s, .keeping = Keeping::silent};
constexpr LockSettings with_handoffs{.keep = 2s, .keeping = Keeping::silent, .local_hand_overs = 4};

/// What the lock guards, and who is there.
struct Room {
  std::atomic<int> inside{0};
  std::atomic<int> overlaps{0};
  std::atomic<int> visits{0};
  std::atomic<int> disorder{0};
  std::atomic<std::int64_t> last_token{0};

  void visit(std::int64_t token) {
    if (inside.fetch_add(1) != 0) ++overlaps;
    if (last_token.exchange(token) > token) ++disorder;
    ++visits;
    --inside;
  }
};

void use(InterProcessMutex& mutex, Room& room, int times) {
  for (int i = 0; i < times; ++i) {
    const std::lock_guard guard{mutex};
    room.visit(mutex.fencing_token());
  }
}

struct Fixture : LockFixture {
  Client other = make_client(server);

  /// Uses the lock until the client keeps it.
  void warm_up(InterProcessMutex& mutex) const {
    const auto use_once = [&] { const std::lock_guard guard{mutex}; };
    REQUIRE(is_kept_soon(session, path, use_once));
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "threads of clients that keep a lock, and of one that does not, are inside one at a time") {
  const LockSettings settings = GENERATE(confirmed, silent, with_handoffs);
  const Client third = make_client(server);
  InterProcessMutex first{client, path, settings};
  InterProcessMutex second{other, path, settings};
  InterProcessMutex plain{third, path};
  Room room;
  constexpr int visits = repeats(150);  // of each thread
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i)
      for (InterProcessMutex* each : {&first, &second, &plain})
        threads.emplace_back([each, &room] { use(*each, room, visits); });
  }
  CHECK(room.visits == 9 * visits);
  CHECK(room.overlaps == 0);
  CHECK(room.disorder == 0);
}

TEST_CASE_METHOD(Fixture, "threads of one client hand a lock over among themselves that the client keeps") {
  const LockSettings settings = GENERATE(confirmed, silent);
  InterProcessMutex mutex{client, path, settings};
  Room room;
  constexpr int visits = repeats(300);  // of each thread
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) threads.emplace_back([&] { use(mutex, room, visits); });
  }
  CHECK(room.visits == 8 * visits);
  CHECK(room.overlaps == 0);
  CHECK(room.disorder == 0);
  CHECK(queue_length() <= 1);
}

TEST_CASE_METHOD(Fixture, "a lock that a client keeps goes to another client that asks for it") {
  const LockSettings settings = GENERATE(confirmed, silent);
  InterProcessMutex mutex{client, path, settings};
  InterProcessMutex theirs{other, path};
  for (int round = 0; round < 3; ++round) {
    warm_up(mutex);
    const std::int64_t kept_token = [&] {
      const std::lock_guard guard{mutex};
      return mutex.fencing_token();
    }();
    REQUIRE(theirs.try_lock_for(10s));
    CHECK(theirs.fencing_token() > kept_token);
    theirs.release();
  }
}

TEST_CASE_METHOD(Fixture, "threads that use a kept lock all the time go ahead of another client a few times only") {
  constexpr int threads_of_keeper = 6;
  InterProcessMutex mutex{client, path, with_handoffs};
  InterProcessMutex theirs{other, path};
  Room room;
  std::atomic<bool> is_over{false};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < threads_of_keeper; ++i)
      threads.emplace_back([&] {
        while (!is_over) use(mutex, room, 1);
      });
    for (int round = 0; round < 20; ++round) {
      if (!theirs.try_lock_for(20s)) break;
      room.visit(theirs.fencing_token());
      theirs.unlock();
    }
    is_over = true;
  }
  CHECK(room.visits > 20);
  CHECK(room.overlaps == 0);
  CHECK(room.disorder == 0);
}

TEST_CASE_METHOD(Fixture, "a kept lock that nobody uses is given up, and nothing is left of it") {
  InterProcessMutex mutex{client, path, {.keep = 400ms, .keeping = Keeping::silent}};
  warm_up(mutex);
  CHECK(eventually([&] { return nothing_left(); }));
}

TEST_CASE_METHOD(Fixture, "a client that is closed gives up the locks that it keeps") {
  Client own = make_client(server);
  {
    InterProcessMutex mutex{own, path, {.keep = 60s, .keeping = Keeping::silent}};
    warm_up(mutex);
  }
  own.close();
  CHECK(queue_length() == 0);
}

TEST_CASE_METHOD(Fixture, "a lease of a kept lock may outlive its client") {
  const LockSettings settings = GENERATE(confirmed, silent);
  Lease lease;
  {
    const Client own = make_client(server);
    InterProcessMutex mutex{own, path, settings};
    warm_up(mutex);
    lease = acquire(mutex);
  }
  CHECK(lease.state() == LeaseState::lost);
  CHECK(queue_length() == 0);
}

TEST_CASE_METHOD(Fixture, "a kept lock whose session ends is not granted any more") {
  const LockSettings settings = GENERATE(confirmed, silent);
  Client own = make_client(server);
  InterProcessMutex mutex{own, path, settings};
  warm_up(mutex);
  const Session session_before = own.session();
  end(session_before);
  REQUIRE(eventually([&] { return own.session().id() != session_before.id(); }));
  const std::lock_guard guard{mutex};
  CHECK(queue_length() == 1);
  CHECK(mutex.fencing_token() > 0);
}

TEST_CASE_METHOD(Fixture, "a kept lock whose node an operator deletes is taken anew") {
  const LockSettings settings = GENERATE(confirmed, silent);
  InterProcessMutex mutex{client, path, settings};
  warm_up(mutex);
  const std::string node = children_of(session, path).front();
  delete_node(path + "/" + node);
  const auto is_new = [&] {
    const std::lock_guard guard{mutex};
    const auto children = children_of(session, path);
    return children.size() == 1 && children.front() != node;
  };
  CHECK(eventually(is_new));
}

TEST_CASE_METHOD(Fixture, "a write lock that a client keeps lets its own readers and other clients in") {
  InterProcessReadWriteLock mine{client, path, silent};
  InterProcessReadWriteLock theirs{other, path};
  for (int round = 0; round < 2; ++round) {
    warm_up(mine.write_lock());
    {
      const std::shared_lock reading{mine};
      CHECK(theirs.try_lock_shared_for(10s));
      theirs.unlock_shared();
    }
    REQUIRE(theirs.try_lock_for(10s));
    theirs.unlock();
  }
}

TEST_CASE_METHOD(Fixture, "the guard of a confirmed lock passes after a request to revoke that its client has read") {
  InterProcessMutex mutex{client, path, confirmed};
  warm_up(mutex);
  Lease lease = acquire(mutex);
  Pending<> asked;
  lease.async_wait_revocation(asked.handler());
  attempt_revoke(other, lease.node_path());
  CHECK_FALSE(std::get<0>(asked.get()));
  CHECK_FALSE(commit(client, lease.guard()));
  attempt_revoke(other, lease.node_path());  // nothing waits for it: the client reads it when it looks at the queue
  CHECK(eventually([&] { return !commit(client, lease.guard()); }));
}

TEST_CASE_METHOD(Fixture, "an acquire of a kept lock that is given up leaves no trace") {
  InterProcessMutex mutex{client, path, silent};
  warm_up(mutex);
  std::optional<std::unique_lock<InterProcessMutex>> held{mutex};
  std::jthread waiter{[&] { CHECK_FALSE(mutex.try_lock_for(50ms)); }};
  waiter.join();
  CHECK(queue_length() == 1);
  held.reset();
  CHECK(mutex.try_lock());
  mutex.unlock();
}
