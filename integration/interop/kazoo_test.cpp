// The locks of zklock and of a running Kazoo on the same paths, and Curator's with them.
#include "crowd.hpp"
#include "peer.hpp"
#include "support/catch.hpp"
#include "support/operations.hpp"

#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>
#include <zklock/recipes/locks/inter_process_semaphore.hpp>
#include <zklock/recipes/locks/revocation.hpp>

#include <optional>
#include <thread>
#include <vector>

using namespace zklock;
using namespace zklock::test;

namespace {

struct Fixture {
  testing::TestServer server;
  Kazoo kazoo{server};
  Client client = make_client(server);
  Session session = connected_session(client);
  const std::string path = "/locks/orders";

  /// Kazoo makes no containers, and does not make a deleted directory again.
  Fixture() { REQUIRE_FALSE(create(client, path, "", CreateOptions{CreateMode::persistent}.creating_parents())); }
  [[nodiscard]] std::size_t queue_length() const { return children_of(session, path).size(); }
  /// Whether the queue has come to that number of nodes.
  [[nodiscard]] bool is_enqueued(std::size_t number) const {
    return eventually([&] { return queue_length() == number; });
  }
  /// A mutex of zklock and Kazoo's lock of that kind.
  void check_that_they_are_one_line(const InterProcessMutex& mutex, const std::string& kind) {
    REQUIRE(kazoo("acquire " + kind + " " + path + " 5000") == "yes");
    CHECK(try_acquire(mutex) == Error::timed_out);
    Pending<Lease> second;
    mutex.async_acquire(second.handler());
    REQUIRE(is_enqueued(2));
    CHECK_FALSE(second.ready(100ms));
    CHECK(kazoo("contenders " + kind + " " + path) == "kazoo " + client.client_id() + ":1");
    CHECK(kazoo("release " + kind + " " + path) == "yes");
    Lease lease = std::get<1>(second.get());
    CHECK(kazoo("acquire " + kind + " " + path + " 200") == "no");
    kazoo.begin("acquire " + kind + " " + path + " 20000");
    REQUIRE(is_enqueued(2));
    lease = Lease{};
    CHECK(kazoo.outcome() == "yes");
    const auto [error, line] = outcome_of_operation<std::vector<LockParticipant>>(
        [&](auto token) { mutex.async_participants(std::move(token)); });
    CHECK_FALSE(error);
    REQUIRE(line.size() == 1);
    CHECK(line[0].client_id.empty());  // Kazoo's identifier is no client id
    CHECK(line[0].session_id != session.id());
    CHECK(kazoo("release " + kind + " " + path) == "yes");
  }
  /// A lock of zklock and Kazoo's locks of those kinds.
  void check_that_they_keep_each_other_out(const InterProcessReadWriteLock& lock, const std::string& read,
                                           const std::string& write) {
    {
      const Lease writing = acquire(lock.write_lock());
      CHECK(kazoo("acquire " + read + " " + path + " 200") == "no");
      CHECK(kazoo("acquire " + write + " " + path + " 200") == "no");
    }
    REQUIRE(kazoo("acquire " + read + " " + path + " 5000") == "yes");
    CHECK(acquire(lock.read_lock()).is_held());
    CHECK(try_acquire(lock.write_lock()) == Error::timed_out);
    CHECK(kazoo("release " + read + " " + path) == "yes");
    REQUIRE(kazoo("acquire " + write + " " + path + " 5000") == "yes");
    CHECK(try_acquire(lock.read_lock()) == Error::timed_out);
    CHECK(try_acquire(lock.write_lock()) == Error::timed_out);
    CHECK(kazoo("release " + write + " " + path) == "yes");
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "Kazoo's Lock as it comes and zklock's mutex do not see each other") {
  const InterProcessMutex mutex{client, path};
  REQUIRE(kazoo("acquire lock " + path + " 5000") == "yes");
  const Lease lease = acquire(mutex);
  CHECK(lease.is_held());
  CHECK(kazoo("release lock " + path) == "yes");
  CHECK(kazoo("acquire lock " + path + " 5000") == "yes");
  CHECK(lease.is_held());
}

TEST_CASE_METHOD(Fixture, "Kazoo's Lock with zklock's pattern waits for zklock, and zklock does not wait for it") {
  const InterProcessMutex mutex{client, path};
  Lease lease = acquire(mutex);
  CHECK(kazoo("acquire lock-with-pattern " + path + " 200") == "no");
  kazoo.begin("acquire lock-with-pattern " + path + " 20000");
  REQUIRE(is_enqueued(2));
  lease = Lease{};
  CHECK(kazoo.outcome() == "yes");
  CHECK(acquire(mutex).is_held());  // two holders at the same time
}

TEST_CASE_METHOD(Fixture,
                 "Kazoo's Lock under Curator's name and zklock's exclude each other, first come, first served") {
  check_that_they_are_one_line(InterProcessMutex{client, path}, "curator-lock");
}

TEST_CASE_METHOD(
    Fixture, "Kazoo's Lock as it comes and zklock's under Kazoo's names exclude each other, first come, first served") {
  const InterProcessMutex mutex{client, path, LockNaming::kazoo};
  check_that_they_are_one_line(mutex, "lock");
  // Under the other names it is another lock, for zklock as well.
  const Lease lease = acquire(mutex);
  CHECK(acquire(InterProcessMutex{client, path}).is_held());
}

TEST_CASE_METHOD(Fixture, "under Kazoo's names zklock makes the directory for Kazoo, which never makes it again") {
  const std::string fresh = "/locks/of/kazoo";
  const InterProcessMutex mutex{client, fresh, LockNaming::kazoo};
  CHECK(acquire(mutex).is_held());
  const auto [error, stat] =
      outcome_of_operation<std::optional<Stat>>([&](auto token) { session.async_exists(fresh, std::move(token)); });
  REQUIRE(stat);
  CHECK(stat->ephemeral_owner == 0);  // a container has another number
  CHECK(kazoo("acquire lock " + fresh + " 5000") == "yes");
}

TEST_CASE_METHOD(Fixture,
                 "Kazoo's readers and writers as they come and zklock's under Kazoo's names keep each other out") {
  check_that_they_keep_each_other_out(InterProcessReadWriteLock{client, path, LockNaming::kazoo}, "read", "write");
}

TEST_CASE_METHOD(Fixture, "Kazoo's readers and writers as they come and zklock's do not see each other") {
  const InterProcessReadWriteLock lock{client, path};
  REQUIRE(kazoo("acquire write " + path + " 5000") == "yes");
  Lease writing = acquire(lock.write_lock());
  CHECK(writing.is_held());
  CHECK(kazoo("release write " + path) == "yes");
  CHECK(kazoo("acquire read " + path + " 5000") == "yes");
  CHECK(kazoo("release read " + path) == "yes");

  // With zklock's patterns Kazoo waits for zklock, and zklock does not wait for Kazoo.
  CHECK(kazoo("acquire write-with-pattern " + path + " 200") == "no");
  CHECK(kazoo("acquire read-with-pattern " + path + " 200") == "no");
  writing = Lease{};
  CHECK(kazoo("acquire write-with-pattern " + path + " 5000") == "yes");
  CHECK(acquire(lock.write_lock()).is_held());
}

TEST_CASE_METHOD(Fixture,
                 "Kazoo's readers and writers under Curator's names and zklock's keep each other out as they should") {
  const InterProcessReadWriteLock lock{client, path};
  check_that_they_keep_each_other_out(lock, "curator-read", "curator-write");

  // Kazoo's reader between two writers of zklock: it waits for the one ahead, and the one behind waits for it.
  Lease first = acquire(lock.write_lock());
  kazoo.begin("acquire curator-read " + path + " 20000");
  REQUIRE(is_enqueued(2));
  Pending<Lease> second;
  lock.write_lock().async_acquire(second.handler());
  REQUIRE(is_enqueued(3));
  first = Lease{};
  CHECK(kazoo.outcome() == "yes");
  CHECK_FALSE(second.ready(100ms));
  CHECK(kazoo("release curator-read " + path) == "yes");
  CHECK(std::get<1>(second.get()).is_held());
}

TEST_CASE_METHOD(Fixture, "zklock's downgrade keeps Kazoo's writer out") {
  const InterProcessReadWriteLock lock{client, path};
  const Owner owner = Owner::make();
  Lease writing = acquire_as(owner, lock.write_lock());
  kazoo.begin("acquire curator-write " + path + " 20000");
  REQUIRE(is_enqueued(2));
  Lease reading = acquire_as(owner, lock.read_lock());
  writing = Lease{};
  REQUIRE(is_enqueued(2));
  CHECK(reading.is_held());
  CHECK(try_acquire(lock.read_lock()) == Error::timed_out);  // behind the writer
  reading = Lease{};
  CHECK(kazoo.outcome() == "yes");
}

TEST_CASE_METHOD(Fixture, "Kazoo, Curator and zklock share one wait queue") {
  Curator curator{server};
  Kazoo another{server};
  const InterProcessMutex mutex{client, path};
  Client other_client = make_client(server);
  const InterProcessMutex foreign{other_client, path};

  Lease first = acquire(mutex);
  Pending<Lease> fourth;
  Pending<Lease> sixth;
  kazoo.begin("acquire curator-lock " + path + " 30000");
  REQUIRE(is_enqueued(2));
  curator.begin("acquire mutex " + path + " 30000");
  REQUIRE(is_enqueued(3));
  mutex.async_acquire(fourth.handler());
  REQUIRE(is_enqueued(4));
  another.begin("acquire curator-lock " + path + " 30000");
  REQUIRE(is_enqueued(5));
  foreign.async_acquire(sixth.handler());
  REQUIRE(is_enqueued(6));

  // At each grant the queue has that many nodes. It gets shorter by one each time, so no client overtakes another.
  first = Lease{};
  CHECK(kazoo.outcome() == "yes");
  CHECK(queue_length() == 5);
  CHECK(kazoo("release curator-lock " + path) == "yes");
  CHECK(curator.outcome() == "yes");
  CHECK_FALSE(fourth.ready(100ms));
  CHECK(curator("release mutex " + path) == "yes");
  Lease lease = std::get<1>(fourth.get());
  CHECK_FALSE(sixth.ready(100ms));
  CHECK(queue_length() == 3);
  lease = Lease{};
  CHECK(another.outcome() == "yes");
  CHECK_FALSE(sixth.ready(100ms));
  CHECK(another("release curator-lock " + path) == "yes");
  CHECK(std::get<1>(sixth.get()).is_held());
}

TEST_CASE_METHOD(Fixture, "a crowd of Kazoo's, Curator's and zklock's threads is served completely, without overlap") {
  constexpr int threads = 3;
  constexpr int times = 40;
  Curator curator{server};
  REQUIRE(curator("revocations") == "0");  // the peer has started
  const auto log = server.directory() / "grants";
  const std::string what = path + " " + std::to_string(threads) + " " + std::to_string(times) + " " + log.string();
  curator.begin("work mutex " + what);
  kazoo.begin("work curator-lock " + what);
  std::vector<std::thread> ours;
  for (int i = 0; i < threads; ++i) ours.emplace_back([&] { work(client, "mutex", path, times, log); });
  for (std::thread& each : ours) each.join();
  CHECK(curator.outcome() == "yes");
  CHECK(kazoo.outcome() == "yes");
  const Grants grants = read_grants(log);
  CHECK(grants.number == 3 * threads * times);
  CHECK(grants.overlaps == 0);
  CHECK(grants.overtakings == 0);
  CHECK(eventually([&] { return queue_length() == 0; }));
}

TEST_CASE_METHOD(Fixture, "when Kazoo's session ends the next waiter gets the lock") {
  const InterProcessMutex mutex{client, path};
  Pending<Lease> second;
  {
    Kazoo mortal{server};
    REQUIRE(mortal("acquire curator-lock " + path + " 5000") == "yes");
    mutex.async_acquire(second.handler());
    REQUIRE(is_enqueued(2));
  }  // killed
  CHECK(std::get<1>(second.get()).is_held());
}

TEST_CASE_METHOD(Fixture, "Kazoo's Semaphore is not zklock's: it admits clients that zklock keeps out") {
  const std::string seats = "/semaphores/seats";
  InterProcessSemaphore semaphore{client, seats, 3};
  const auto all = semaphore.acquire_many(3, 5s);
  REQUIRE(all);
  CHECK_FALSE(semaphore.try_acquire());
  CHECK(kazoo("permit " + seats + " 3") == "yes");
}

TEST_CASE_METHOD(Fixture, "Kazoo's Counter in Curator's form is a number of permits") {
  InterProcessSemaphore semaphore{client, "/semaphores/beds", SharedPermits{"/counts/beds", 1}};
  const Lease first = semaphore.acquire();
  Pending<Lease> second;
  semaphore.async_acquire(second.handler());
  CHECK_FALSE(second.ready(100ms));
  CHECK(kazoo("add /counts/beds 1") == "2");
  CHECK(std::get<1>(second.get()).is_held());
}

TEST_CASE_METHOD(Fixture, "Kazoo can ask zklock to release a lock") {
  const InterProcessMutex mutex{client, path};
  Lease lease = acquire(mutex);
  Pending<> asked;
  lease.async_wait_revocation(asked.handler());
  CHECK(kazoo("revoke " + lease.node_path()) == "yes");
  CHECK_FALSE(std::get<0>(asked.get()));
}

TEST_CASE_METHOD(Fixture, "a Kazoo Lock that has seen zklock's directory does not make it again") {
  const std::string ours = "/containers/orders";
  Lease lease = acquire(InterProcessMutex{client, ours});
  kazoo.begin("acquire curator-lock " + ours + " 20000");
  REQUIRE(eventually([&] { return children_of(session, ours).size() == 2; }));
  lease = Lease{};
  CHECK(kazoo.outcome() == "yes");
  CHECK(kazoo("release curator-lock " + ours) == "yes");
  REQUIRE(eventually([&] { return !exists(session, ours); }));
  CHECK(kazoo("acquire curator-lock " + ours + " 5000") == "failed NoNodeError");
}

TEST_CASE_METHOD(Fixture,
                 "under Kazoo's names a writer behind a mutex of its own client waits for readers all the same") {
  const InterProcessMutex mutex{client, path, LockNaming::kazoo};
  const InterProcessReadWriteLock lock{client, path, LockNaming::kazoo};
  REQUIRE(kazoo("acquire read " + path + " 5000") == "yes");
  Lease alone = acquire(mutex);  // as Kazoo's Lock would
  Pending<Lease> writing;
  lock.write_lock().async_acquire(writing.handler());
  REQUIRE(is_enqueued(3));
  alone = Lease{};
  REQUIRE(is_enqueued(2));
  CHECK_FALSE(writing.ready(100ms));
  CHECK(kazoo("release read " + path) == "yes");
  CHECK(std::get<1>(writing.get()).is_held());
}
