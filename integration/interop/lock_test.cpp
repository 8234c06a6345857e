// The locks of zklock and of a running Curator on the same paths.
#include "crowd.hpp"
#include "peer.hpp"
#include "support/catch.hpp"
#include "support/operations.hpp"

#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>
#include <zklock/recipes/locks/inter_process_semaphore.hpp>
#include <zklock/recipes/locks/inter_process_semaphore_mutex.hpp>
#include <zklock/recipes/locks/revocation.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>

#include <mutex>
#include <thread>
#include <vector>

using namespace zklock;
using namespace zklock::test;

namespace {

struct Fixture {
  testing::TestServer server;
  Curator curator{server};
  Client client = make_client(server);
  Session session = connected_session(client);
  const std::string path = "/locks/orders";

  [[nodiscard]] std::size_t queue_length() const { return children_of(session, path).size(); }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "Curator's mutex and zklock's exclude each other, first come, first served") {
  const InterProcessMutex mutex{client, path};
  REQUIRE(curator("acquire mutex " + path + " 5000") == "yes");
  Pending<Lease> second;
  mutex.async_acquire(second.handler());
  REQUIRE(eventually([&] { return queue_length() == 2; }));
  CHECK(try_acquire(mutex) == Error::timed_out);
  CHECK_FALSE(second.ready(100ms));
  CHECK(curator("participants " + path) == "2");
  CHECK(curator("release mutex " + path) == "yes");
  Lease lease = std::get<1>(second.get());
  CHECK(lease.is_held());
  CHECK(curator("acquire mutex " + path + " 200") == "no");
  curator.begin("acquire mutex " + path + " 20000");
  REQUIRE(eventually([&] { return queue_length() == 2; }));
  lease = Lease{};
  CHECK(curator.outcome() == "yes");
  const auto [error, line] = outcome_of_operation<std::vector<LockParticipant>>(
      [&](auto token) { mutex.async_participants(std::move(token)); });
  CHECK_FALSE(error);
  REQUIRE(line.size() == 1);
  CHECK(line[0].client_id.empty());  // Curator writes an address
  CHECK(curator("release mutex " + path) == "yes");
}

TEST_CASE_METHOD(Fixture, "Curator's readers and writers and zklock's keep each other out as they should") {
  const InterProcessReadWriteLock lock{client, path};
  const Owner owner = Owner::make();
  {
    const Lease writing = acquire_as(owner, lock.write_lock());
    CHECK(curator("acquire read " + path + " 200") == "no");
    CHECK(curator("acquire write " + path + " 200") == "no");
  }
  REQUIRE(curator("acquire read " + path + " 5000") == "yes");
  {
    const Lease reading = acquire_as(owner, lock.read_lock());
    CHECK(reading.is_held());
    CHECK(try_acquire(lock.write_lock()) == Error::timed_out);
  }
  CHECK(curator("release read " + path) == "yes");
  REQUIRE(curator("acquire write " + path + " 5000") == "yes");
  CHECK(try_acquire(lock.read_lock()) == Error::timed_out);
  CHECK(try_acquire(lock.write_lock()) == Error::timed_out);
  CHECK(curator("release write " + path) == "yes");

  // zklock's downgrade, with Curator's writer in the queue.
  Lease writing = acquire_as(owner, lock.write_lock());
  curator.begin("acquire write " + path + " 20000");
  REQUIRE(eventually([&] { return queue_length() == 2; }));
  Lease reading = acquire_as(owner, lock.read_lock());
  writing = Lease{};
  REQUIRE(eventually([&] { return queue_length() == 2; }));
  CHECK(reading.is_held());
  CHECK(try_acquire(lock.read_lock()) == Error::timed_out);  // behind the writer
  reading = Lease{};
  CHECK(curator.outcome() == "yes");
  CHECK(curator("release write " + path) == "yes");
}

TEST_CASE_METHOD(Fixture,
                 "a writer of Curator that goes on as a reader keeps zklock's writer out from Curator 5.5 on") {
  const bool has_reader_inside = curator("keeps_downgraders") == "yes";
  const InterProcessReadWriteLock lock{client, path};
  REQUIRE(curator("acquire write " + path + " 5000") == "yes");
  Pending<Lease> second;
  lock.write_lock().async_acquire(second.handler());
  REQUIRE(eventually([&] { return queue_length() == 2; }));
  CHECK(curator("acquire read " + path + " 5000") == "yes");  // before 5.5: behind zklock's writer, though it is held
  CHECK_FALSE(second.ready(100ms));
  CHECK(curator("release write " + path) == "yes");
  if (has_reader_inside) {
    CHECK_FALSE(second.ready(200ms));
    CHECK(curator("release read " + path) == "yes");
  }
  const Lease lease = std::get<1>(second.get());
  CHECK(lease.is_held());
  CHECK(queue_length() == (has_reader_inside ? 1 : 2));  // before 5.5 the reader is still there
}

TEST_CASE_METHOD(Fixture, "Curator's permits and zklock's are of one semaphore") {
  InterProcessSemaphore semaphore{client, path, 3};
  REQUIRE(curator("permits " + path + " 3 2 5000") == "yes");
  Lease third = semaphore.acquire();
  CHECK_FALSE(semaphore.try_acquire());
  CHECK(curator("permits " + path + " 3 1 200") == "no");
  Pending<std::vector<Lease>> two;
  semaphore.async_acquire_many(2, two.handler());
  CHECK_FALSE(two.ready(100ms));
  CHECK(curator("return " + path) == "yes");
  CHECK(std::get<1>(two.get()).size() == 2);
  third = Lease{};
  CHECK(curator("permits " + path + " 3 1 5000") == "yes");
}

TEST_CASE_METHOD(Fixture, "acquires of several permits at once by Curator and zklock can block each other") {
  InterProcessSemaphore semaphore{client, path, 2};
  Lease one = semaphore.acquire();
  Lease two = semaphore.acquire();
  const auto waiting = [&] { return children_of(session, path + "/locks").size(); };
  curator.begin("permits " + path + " 2 2 60000");
  REQUIRE(eventually([&] { return waiting() == 1; }));
  Pending<std::vector<Lease>> both;
  const auto give_up = std::make_shared<asio::cancellation_signal>();
  semaphore.async_acquire_many(2, asio::bind_cancellation_slot(give_up->slot(), both.handler()));
  REQUIRE(eventually([&] { return waiting() == 2; }));
  one = Lease{};  // Curator gets it, and waits in the queue behind zklock for its second one
  REQUIRE(
      eventually([&] { return children_of(session, path + "/leases").size() == 4; }));  // two, Curator's and zklock's
  two = Lease{};
  CHECK_FALSE(both.ready(200ms));
  CHECK_FALSE(curator.has_answered());
  asio::post(client.get_executor(), [give_up] { give_up->emit(asio::cancellation_type::terminal); });
  CHECK(std::get<0>(both.get()) == asio::error::operation_aborted);
  CHECK(curator.outcome() == "yes");
}

TEST_CASE_METHOD(Fixture, "Curator's semaphore mutex and zklock's exclude each other") {
  InterProcessSemaphoreMutex mutex{client, path};
  REQUIRE(curator("acquire semaphore-mutex " + path + " 5000") == "yes");
  CHECK_FALSE(mutex.try_lock());
  CHECK(curator("release semaphore-mutex " + path) == "yes");
  REQUIRE(mutex.acquire(30s));
  CHECK(curator("acquire semaphore-mutex " + path + " 200") == "no");
  mutex.release();
  CHECK(curator("acquire semaphore-mutex " + path + " 5000") == "yes");
}

TEST_CASE_METHOD(Fixture, "Curator's semaphore mutex gets the lock of a client that keeps its own") {
  const Keeping keeping = GENERATE(Keeping::confirmed, Keeping::silent);
  InterProcessSemaphoreMutex mutex{client, path, {.keep = 60s, .keeping = keeping}};
  for (int round = 0; round < 2; ++round) {
    const auto use_once = [&] { const std::lock_guard guard{mutex}; };
    REQUIRE(is_kept_soon(session, path + "/leases", use_once));
    CHECK(curator("acquire semaphore-mutex " + path + " 5000") == "yes");
    CHECK_FALSE(mutex.try_lock());
    CHECK(curator("release semaphore-mutex " + path) == "yes");
  }
}

TEST_CASE_METHOD(Fixture, "Curator and zklock can ask each other to release a lock") {
  const InterProcessMutex mutex{client, path};
  CHECK(curator("revocable " + path) == "yes");
  REQUIRE(curator("acquire mutex " + path + " 5000") == "yes");
  attempt_revoke(client, path + "/" + children_of(session, path).at(0));
  CHECK(eventually([&] { return curator("revocations") == "1"; }));
  CHECK(curator("release mutex " + path) == "yes");

  Lease lease = acquire(mutex);
  Pending<> asked;
  lease.async_wait_revocation(asked.handler());
  CHECK(curator("revoke " + lease.node_path()) == "yes");
  CHECK_FALSE(std::get<0>(asked.get()));
  lease = Lease{};
  CHECK(curator("acquire mutex " + path + " 5000") == "yes");
}

TEST_CASE_METHOD(Fixture, "a crowd of Curator's and zklock's threads is served completely, without overlap") {
  constexpr int threads = 4;
  constexpr int times = 60;
  // A directory that is reaped as soon as it is empty would number its nodes from the start again.
  REQUIRE_FALSE(create(client, path, "", CreateOptions{CreateMode::persistent}.creating_parents()));
  REQUIRE(curator("revocations") == "0");  // the peer has started
  const auto log = server.directory() / "grants";
  curator.begin("work mutex " + path + " " + std::to_string(threads) + " " + std::to_string(times) + " " +
                log.string());
  std::vector<std::thread> ours;
  for (int i = 0; i < threads; ++i) ours.emplace_back([&] { work(client, "mutex", path, times, log); });
  for (std::thread& each : ours) each.join();
  CHECK(curator.outcome() == "yes");
  const Grants grants = read_grants(log);
  CHECK(grants.number == 2 * threads * times);
  CHECK(grants.overlaps == 0);
  CHECK(grants.overtakings == 0);
  CHECK(eventually([&] { return queue_length() == 0; }));
}
