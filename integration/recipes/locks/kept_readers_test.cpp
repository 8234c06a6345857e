// Read locks that clients keep between two uses, on a real server.
#include "support/catch.hpp"
#include "support/lock_fixture.hpp"
#include "support/operations.hpp"

#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>
#include <zklock/recipes/locks/revocation.hpp>

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

using namespace zklock;
using namespace zklock::test;

namespace {

constexpr LockSettings silent{.keep = 2s, .keeping = Keeping::silent};

/// What the lock guards, and who is there.
struct Room {
  std::atomic<int> readers{0};
  std::atomic<int> writers{0};
  std::atomic<int> conflicts{0};
  std::atomic<int> reads{0};

  void read() {
    ++readers;
    if (writers > 0) ++conflicts;
    ++reads;
    --readers;
  }
  void write() {
    if (writers.fetch_add(1) != 0) ++conflicts;
    for (int look = 0; look < 1'000; ++look)
      if (readers > 0) ++conflicts;
    --writers;
  }
};

struct KeptReadersFixture : LockFixture {
  Client other = make_client(server);

  /// Reads until the client keeps the lock.
  void warm_up(InterProcessReadWriteLock& lock) const {
    const auto use_once = [&] { const std::shared_lock guard{lock}; };
    REQUIRE(is_kept_soon(session, path, use_once));
  }
};

}  // namespace

TEST_CASE_METHOD(KeptReadersFixture, "nobody reads by a kept read lock while a writer is inside") {
  const bool writes_locally = GENERATE(false, true);
  const Client third = make_client(server);
  InterProcessReadWriteLock first{client, path, silent};
  InterProcessReadWriteLock second{other, path, silent};
  InterProcessReadWriteLock writing =
      writes_locally ? InterProcessReadWriteLock{client, path, silent} : InterProcessReadWriteLock{third, path};
  Room room;
  std::atomic<bool> is_over{false};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i)
      for (InterProcessReadWriteLock* lock : {&first, &second})
        threads.emplace_back([lock, &room, &is_over] {
          while (!is_over) {
            const std::shared_lock guard{*lock};
            room.read();
          }
        });
    for (int i = 0; i < 20; ++i) {
      const int before = room.reads;
      CHECK(eventually([&] { return room.reads > before + 500; }));
      const std::lock_guard guard{writing};
      room.write();
    }
    is_over = true;
  }
  CHECK(room.conflicts == 0);
  CHECK(room.reads > 20 * 500);
}

TEST_CASE_METHOD(KeptReadersFixture, "a read lock that a client keeps goes to another client that wants to write") {
  InterProcessReadWriteLock mine{client, path, silent};
  InterProcessReadWriteLock theirs{other, path, silent};
  for (int round = 0; round < 3; ++round) {
    warm_up(mine);
    REQUIRE(theirs.try_lock_for(10s));
    CHECK(mine.try_lock_shared() == false);
    theirs.unlock();
  }
}

TEST_CASE_METHOD(KeptReadersFixture,
                 "threads hold a kept read lock together, and a writer waits for the last of them") {
  InterProcessReadWriteLock mine{client, path, silent};
  InterProcessReadWriteLock theirs{other, path};
  warm_up(mine);
  mine.lock_shared();
  std::jthread beside{[&] {
    const std::shared_lock guard{mine};
    CHECK(queue_length() == 1);
  }};
  beside.join();
  CHECK_FALSE(theirs.try_lock_for(300ms));
  mine.unlock_shared();
  CHECK(theirs.try_lock_for(10s));
  theirs.unlock();
}

TEST_CASE_METHOD(KeptReadersFixture, "a kept read lock that nobody uses is given up, and nothing is left of it") {
  InterProcessReadWriteLock lock{client, path, {.keep = 400ms, .keeping = Keeping::silent}};
  warm_up(lock);
  CHECK(eventually([&] { return nothing_left(); }));
}

TEST_CASE_METHOD(KeptReadersFixture, "a client that is closed gives up the read locks that it keeps") {
  Client own = make_client(server);
  Lease lease;
  {
    InterProcessReadWriteLock lock{own, path, {.keep = 60s, .keeping = Keeping::silent}};
    warm_up(lock);
    lease = acquire(lock.read_lock());
  }
  own.close();
  CHECK(lease.state() == LeaseState::lost);
  CHECK(queue_length() == 0);
}

TEST_CASE_METHOD(KeptReadersFixture, "a kept read lock whose session ends is not granted any more") {
  Client own = make_client(server);
  InterProcessReadWriteLock lock{own, path, silent};
  warm_up(lock);
  const Session session_before = own.session();
  end(session_before);
  REQUIRE(eventually([&] { return own.session().id() != session_before.id(); }));
  const std::shared_lock guard{lock};
  CHECK(queue_length() == 1);
  CHECK(lock.read_lock().fencing_token() > 0);
}

TEST_CASE_METHOD(KeptReadersFixture, "all holders of a kept read lock learn that an operator has deleted its node") {
  InterProcessReadWriteLock lock{client, path, silent};
  warm_up(lock);
  const Lease one = acquire(lock.read_lock());
  const Lease other_one = acquire(lock.read_lock());
  CHECK(queue_length() == 1);
  delete_node(path + "/" + children_of(session, path).front());
  CHECK(eventually([&] { return one.state() == LeaseState::lost && other_one.state() == LeaseState::lost; }));
}

TEST_CASE_METHOD(KeptReadersFixture, "a request to revoke a kept read lock reaches its holders") {
  InterProcessReadWriteLock lock{client, path, silent};
  warm_up(lock);
  Lease lease = acquire(lock.read_lock());
  Pending<> asked;
  lease.async_wait_revocation(asked.handler());
  attempt_revoke(other, lease.node_path());
  CHECK_FALSE(std::get<0>(asked.get()));
  lease = Lease{};
  CHECK(eventually([&] { return queue_length() == 0; }));
}
