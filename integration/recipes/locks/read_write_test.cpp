#include "support/catch.hpp"
#include "support/lock_fixture.hpp"

#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>

#include <atomic>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <thread>

using namespace zklock;
using namespace zklock::test;
using namespace std::chrono_literals;

namespace {

struct Fixture : LockFixture {
  InterProcessReadWriteLock lock{client, path};
};

std::tuple<error_code, Lease> try_acquire(const InterProcessMutex& mutex, Owner owner,
                                          std::chrono::milliseconds wait = 0ms) {
  return outcome_of_operation<Lease>([&](auto token) { mutex.async_acquire(owner, wait, std::move(token)); });
}

error_code release(Lease& lease) {
  return std::get<0>(outcome_of_operation<>([&](auto token) { lease.async_release(std::move(token)); }));
}

}  // namespace

TEST_CASE_METHOD(Fixture, "readers share the lock, a writer has it alone") {
  Lease one = acquire(lock.read_lock());
  Lease two = acquire(lock.read_lock());
  CHECK(one.is_held());
  CHECK(two.is_held());
  CHECK(one.node_path() != two.node_path());
  CHECK(std::get<0>(try_acquire(lock.write_lock(), Owner::make())) == Error::timed_out);
  one = Lease{};
  CHECK(std::get<0>(try_acquire(lock.write_lock(), Owner::make())) == Error::timed_out);
  two = Lease{};
  Lease writer = acquire(lock.write_lock());
  CHECK(std::get<0>(try_acquire(lock.read_lock(), Owner::make())) == Error::timed_out);
  CHECK(std::get<0>(try_acquire(lock.write_lock(), Owner::make())) == Error::timed_out);
  writer = Lease{};
  CHECK(nothing_left());
}

TEST_CASE_METHOD(Fixture, "readers and writers are served in order: a waiting writer keeps later readers out") {
  Lease reader = acquire(lock.read_lock());
  const Client foreign_client = make_client(server);
  const InterProcessReadWriteLock theirs{foreign_client, path};
  Pending<Lease> writer;
  theirs.write_lock().async_acquire(writer.handler());
  REQUIRE(eventually([&] { return queue_length() == 2; }));
  std::vector<Pending<Lease>> readers(3);
  for (std::size_t i = 0; i < readers.size(); ++i) {
    lock.read_lock().async_acquire(readers[i].handler());
    REQUIRE(eventually([&] { return queue_length() == 3 + i; }));
  }
  // The other client's writer watches the reader, and all readers watch the writer: one watch for their session.
  CHECK(eventually([&] { return server.monitor("zk_watch_count") == 2; }));
  CHECK_FALSE(readers[0].ready(100ms));
  const auto [error, line] = outcome_of_operation<std::vector<LockParticipant>>(
      [&](auto token) { lock.async_participants(std::move(token)); });
  CHECK_FALSE(error);
  REQUIRE(line.size() == 5);
  CHECK(line[0].kind == LockKind::read);
  CHECK(line[1].kind == LockKind::write);
  CHECK(line[4].kind == LockKind::read);
  const auto [failed, writers] = outcome_of_operation<std::vector<LockParticipant>>(
      [&](auto token) { lock.write_lock().async_participants(std::move(token)); });
  CHECK_FALSE(failed);
  CHECK(writers.size() == 1);

  reader = Lease{};
  auto written = writer.get();
  CHECK(std::get<1>(written).is_held());
  CHECK_FALSE(readers[0].ready(100ms));
  std::get<1>(written) = Lease{};
  for (auto& each : readers) CHECK(std::get<1>(each.get()).is_held());
}

TEST_CASE_METHOD(Fixture,
                 "a writer may also read, and go on reading after it releases the write lock: no writer gets between") {
  const Owner owner = Owner::make();
  auto [error, writer] = try_acquire(lock.write_lock(), owner);
  REQUIRE_FALSE(error);
  Pending<Lease> next;
  lock.write_lock().async_acquire(next.handler());
  REQUIRE(eventually([&] { return queue_length() == 2; }));

  CHECK(std::get<0>(try_acquire(lock.read_lock(), Owner::make())) == Error::timed_out);  // not another owner
  auto [failed, reader] = try_acquire(lock.read_lock(), owner);
  REQUIRE_FALSE(failed);
  CHECK(reader.is_held());
  // The node is beside the writer's, with its number: Curator's layout.
  CHECK(reader.node_path().substr(reader.node_path().size() - 10) ==
        writer.node_path().substr(writer.node_path().size() - 10));
  CHECK_FALSE(release(writer));
  CHECK_FALSE(next.ready(100ms));
  CHECK(reader.is_held());
  SECTION("other readers wait behind the waiting writer") {
    CHECK(std::get<0>(try_acquire(lock.read_lock(), Owner::make())) == Error::timed_out);
  }
  CHECK_FALSE(release(reader));
  CHECK(std::get<1>(next.get()).is_held());
}

TEST_CASE_METHOD(Fixture,
                 "a reader that comes while a writer also reads gets the lock when the write lock is released") {
  const Owner owner = Owner::make();
  auto [cannot_write, writing] = try_acquire(lock.write_lock(), owner);
  auto [cannot_read, reading] = try_acquire(lock.read_lock(), owner);
  REQUIRE_FALSE(cannot_write);
  REQUIRE_FALSE(cannot_read);
  Pending<Lease> another;
  lock.read_lock().async_acquire(another.handler());
  REQUIRE(eventually([&] { return queue_length() == 3; }));
  CHECK_FALSE(another.ready(50ms));
  writing = Lease{};
  CHECK(std::get<1>(another.get()).is_held());
  CHECK(reading.is_held());
}

TEST_CASE_METHOD(Fixture, "a writer that goes on reading keeps its token, and that of a waiting writer is greater") {
  const Owner owner = Owner::make();
  auto [error, writer] = try_acquire(lock.write_lock(), owner);
  REQUIRE_FALSE(error);
  Pending<Lease> next;
  lock.write_lock().async_acquire(next.handler());
  REQUIRE(eventually([&] { return queue_length() == 2; }));
  auto [failed, reader] = try_acquire(lock.read_lock(), owner);  // its node is the last one
  REQUIRE_FALSE(failed);
  const std::int64_t token = reader.fencing_token();
  CHECK(token == writer.fencing_token());
  CHECK_FALSE(release(writer));
  CHECK(reader.fencing_token() == token);
  CHECK_FALSE(release(reader));
  CHECK(std::get<1>(next.get()).fencing_token() > token);
}

TEST_CASE_METHOD(Fixture,
                 "an owner that asks for both locks at once gets both, or an error if it would wait for itself") {
  const Owner owner = Owner::make();
  auto [error, foreign] = try_acquire(lock.write_lock(), Owner::make());
  REQUIRE_FALSE(error);
  Pending<Lease> first;
  Pending<Lease> second;
  SECTION("first to write, then to read") {
    lock.write_lock().async_acquire(owner, first.handler());
    lock.read_lock().async_acquire(owner, second.handler());
    foreign = Lease{};
    const auto [cannot_write, writing] = first.get();
    const auto [cannot_read, reading] = second.get();
    CHECK(writing.is_held());
    CHECK(reading.is_held());
  }
  SECTION("first to read, then to write") {
    lock.read_lock().async_acquire(owner, first.handler());
    lock.write_lock().async_acquire(owner, second.handler());
    foreign = Lease{};
    const auto [cannot_read, reading] = first.get();
    CHECK(reading.is_held());
    CHECK(std::get<0>(second.get()) == Error::would_deadlock);
  }
}

TEST_CASE_METHOD(Fixture, "a reader that asks for the write lock is refused at once, since it would wait for itself") {
  const Owner owner = Owner::make();
  auto [error, reader] = try_acquire(lock.read_lock(), owner);
  REQUIRE_FALSE(error);
  CHECK(std::get<0>(outcome_of_operation<Lease>(
            [&](auto token) { lock.write_lock().async_acquire(owner, std::move(token)); })) == Error::would_deadlock);
  CHECK(reader.is_held());
  {
    const std::shared_lock reading{lock};
    CHECK_THROWS_AS(lock.lock(), boost::system::system_error);
  }
  CHECK_FALSE(release(reader));
  CHECK(nothing_left());
}

TEST_CASE_METHOD(Fixture, "read and write locks are locks of the standard library") {
  InterProcessReadWriteLock other{client, path};
  {
    const std::shared_lock reading{lock};
    CHECK(lock.read_lock().is_owned_by_current_thread());
    CHECK_FALSE(lock.write_lock().is_acquired_in_this_process());
    std::thread{[&] {
      const std::shared_lock also{other, std::try_to_lock};
      CHECK(also.owns_lock());
    }}.join();
    std::thread{[&] {
      const std::unique_lock writing{other, 10ms};
      CHECK_FALSE(writing.owns_lock());
    }}.join();
  }
  {
    const std::unique_lock writing{lock};
    const std::unique_lock again{other, std::try_to_lock};  // of the same thread
    CHECK(again.owns_lock());
    const std::shared_lock reading{other};
    CHECK(reading.owns_lock());
    std::thread{[&] { CHECK_FALSE(other.try_lock_shared()); }}.join();
  }
  CHECK(nothing_left());
}

TEST_CASE_METHOD(Fixture, "a downgrade is refused if an operator has deleted the writer's node") {
  const Owner owner = Owner::make();
  auto [error, writer] = try_acquire(lock.write_lock(), owner);
  REQUIRE_FALSE(error);
  outcome_of_operation<>([&, node = writer.node_path()](auto token) { session.async_remove(node, std::move(token)); });
  CHECK(std::get<0>(try_acquire(lock.read_lock(), owner)) == LockError::lock_lost);
  CHECK(release(writer) == LockError::lock_lost);
  CHECK(nothing_left());
}

TEST_CASE_METHOD(Fixture, "when a writer's session ends, its node is deleted, and the next reader gets the lock") {
  const Client other = make_client(server);
  Lease writing = acquire(InterProcessReadWriteLock{other, path}.write_lock());
  Pending<Lease> reading;
  lock.read_lock().async_acquire(reading.handler());
  REQUIRE(eventually([&] { return queue_length() == 2; }));
  CHECK_FALSE(reading.ready(50ms));
  const SessionCredentials victim = connected_session(other).credentials();
  server.end_session(victim.id, {victim.password.data(), victim.password.size()});
  CHECK(std::get<1>(reading.get()).is_held());
  CHECK_FALSE(exists(session, writing.node_path()));
  CHECK(eventually([&] { return writing.state() == LeaseState::lost; }));
}

TEST_CASE_METHOD(Fixture, "a read and write lock in a namespace works there") {
  const Client other = make_client(server);
  const InterProcessReadWriteLock inside{client.using_namespace("app"), path};
  const InterProcessReadWriteLock outside{other, "/app" + path};
  Lease reading = acquire(inside.read_lock());
  CHECK(reading.node_path().starts_with(path + "/_c_"));
  CHECK(exists(session, "/app" + reading.node_path()));
  CHECK(acquire(outside.read_lock()).is_held());
  CHECK(std::get<0>(try_acquire(outside.write_lock(), Owner::make())) == Error::timed_out);
  reading = Lease{};
  const Lease writing = acquire(outside.write_lock());
  CHECK(std::get<0>(try_acquire(inside.read_lock(), Owner::make())) == Error::timed_out);
  CHECK(writing.is_held());
}

TEST_CASE("of many threads that read and write in turn none overlaps with a writer, and readers share") {
  auto& server = shared_server();
  const std::string path = fresh_path();
  std::atomic<int> readers{0};
  std::atomic<int> writers{0};
  std::atomic<int> max_readers{0};
  std::atomic<int> overlaps{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      const Client client = make_client(server);
      InterProcessReadWriteLock lock{client, path};
      std::minstd_rand random{i + 1};
      for (int turn = 0; turn < 50; ++turn) {
        if (random() % 4 == 0) {
          const std::unique_lock writing{lock};
          if (++writers != 1 || readers != 0) ++overlaps;
          std::this_thread::yield();
          if (random() % 2 == 0) {
            const std::shared_lock reading{lock};
            if (writers != 1 || readers != 0) ++overlaps;
          }
          --writers;
        } else {
          const std::shared_lock reading{lock};
          const int now = ++readers;
          if (writers != 0) ++overlaps;
          if (now > max_readers) max_readers = now;
          std::this_thread::yield();
          --readers;
        }
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(overlaps == 0);
  CHECK(max_readers > 1);
}
