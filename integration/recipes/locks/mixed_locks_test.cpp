// A mutex and a read/write lock on one path, which do not exclude each other.
#include "support/catch.hpp"
#include "support/lock_fixture.hpp"
#include "support/log.hpp"
#include "support/semaphore.hpp"

#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>
#include <zklock/recipes/locks/inter_process_semaphore.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <cstdint>
#include <future>
#include <mutex>
#include <string>
#include <vector>

using namespace zklock;
using namespace zklock::test;

namespace {

struct Fixture : ObservedLock {
  Log log{LogLevel::info};
  Client client{
      {.connect_string = server.connect_string(), .session_timeout = session_timeout, .logger = log.logger()}};
  Client& other = observer;
  ClientHandle part = client.using_namespace("a-part");
  std::string path_in_part = fresh_path();

  Fixture() { path = "/a-part" + path_in_part; }

  [[nodiscard]] std::vector<LogLine> warnings() const { return log.with({"does not exclude this", path}); }
};

error_code try_acquire(const InterProcessMutex& lock) {
  return std::get<0>(outcome_of_operation<Lease>([&](auto token) { lock.async_acquire(0s, std::move(token)); }));
}

}  // namespace

TEST_CASE_METHOD(Fixture, "one client has a mutex or a read/write lock on a path, and asking for both is refused") {
  InterProcessReadWriteLock both{client, path};
  {
    InterProcessMutex mutex{client, path};
    const Lease held = acquire(mutex);
    CHECK(try_acquire(both.read_lock()) == LockError::mixed_lock_kinds);
    CHECK(try_acquire(both.write_lock()) == LockError::mixed_lock_kinds);
    CHECK(try_acquire(InterProcessReadWriteLock{part, path_in_part}.read_lock()) == LockError::mixed_lock_kinds);
    CHECK(thrown_by([&] { static_cast<void>(both.write_lock().acquire(30s)); }) == LockError::mixed_lock_kinds);
    CHECK(try_acquire(mutex) == Error::timed_out);
    CHECK(both.participants().empty());  // a listing is no use of a lock
  }
  // Once the mutex is released, objects that were refused work as new ones do.
  CHECK(try_acquire(both.write_lock()) == error_code{});
  CHECK(thrown_by([&] { CHECK(both.write_lock().acquire(30s)); }) == error_code{});
  CHECK(try_acquire(InterProcessMutex{client, path}) == LockError::mixed_lock_kinds);
}

TEST_CASE_METHOD(Fixture, "asking for the other kind of lock is refused while there is a waiter, and not afterwards") {
  const InterProcessMutex mutex{client, path};
  const InterProcessReadWriteLock both{client, path};
  asio::cancellation_signal signal;
  std::future<error_code> waited;
  {
    const Lease ahead = acquire(InterProcessMutex{other, path});
    std::promise<error_code> ended;
    waited = ended.get_future();
    mutex.async_acquire(asio::bind_cancellation_slot(
        signal.slot(), [ended = std::move(ended)](error_code error, const Lease&) mutable { ended.set_value(error); }));
    CHECK(eventually([&] { return children_of(session, path).size() == 2; }));
    CHECK(try_acquire(both.read_lock()) == LockError::mixed_lock_kinds);
    signal.emit(asio::cancellation_type::terminal);
    CHECK(waited.get() == asio::error::operation_aborted);
    CHECK(try_acquire(both.read_lock()) == error_code{});
  }
  // A semaphore's wait queue is that of a mutex below its path; it has a node while a waiter waits for permits.
  const InterProcessSemaphore semaphore{client, path + "-permits", 1};
  const InterProcessReadWriteLock queue{client, path + "-permits/locks"};
  const Lease permit = acquire(semaphore);
  asio::cancellation_signal enough;
  semaphore.async_acquire(asio::bind_cancellation_slot(enough.slot(), [](error_code, const Lease&) {}));
  CHECK(eventually([&] { return children_of(session, path + "-permits/leases").size() == 2; }));
  CHECK(try_acquire(queue.read_lock()) == LockError::mixed_lock_kinds);
}

TEST_CASE_METHOD(Fixture, "a path is free for the other kind of lock as soon as the last lock is released") {
  const auto by_guard = [](auto&& lock) {
    std::lock_guard guard{lock};
    return true;
  };
  const auto by_lease = [](const InterProcessMutex& lock) { return acquire(lock).is_held(); };
  const auto for_sure = [](InterProcessMutex& lock) {
    lock.acquire();
    lock.release();
    return true;
  };
  for (int i = 0; i < 10; ++i) {
    InterProcessMutex mutex{client, path};
    InterProcessReadWriteLock both{client, path};
    CHECK(thrown_by([&] { by_guard(InterProcessMutex{client, path}); }) == error_code{});
    CHECK(thrown_by([&] { by_guard(both); }) == error_code{});
    CHECK(thrown_by([&] { by_guard(mutex); }) == error_code{});
    CHECK(thrown_by([&] { by_lease(both.read_lock()); }) == error_code{});
    CHECK(thrown_by([&] { by_lease(mutex); }) == error_code{});
    CHECK(thrown_by([&] { for_sure(both.write_lock()); }) == error_code{});
    CHECK(thrown_by([&] { for_sure(mutex); }) == error_code{});
  }
  CHECK(warnings().empty());  // each node is deleted before the next one is made
}

TEST_CASE_METHOD(Fixture, "under Kazoo's names a mutex and a read/write lock may be on one path: writers exclude it") {
  const InterProcessMutex mutex{client, path, LockNaming::kazoo};
  const InterProcessReadWriteLock both{client, path, LockNaming::kazoo};
  // While a fleet changes its naming, it holds both locks.
  const InterProcessMutex renamed{client, path};
  const Lease holder = acquire(mutex);
  const Lease also = acquire(renamed);
  CHECK(try_acquire(both.write_lock()) == Error::timed_out);
  CHECK(warnings().empty());
}

TEST_CASE_METHOD(Fixture, "the log names another client's lock of the other kind on the path, once a path") {
  SECTION("a mutex, where another client has a write lock") {
    const Lease theirs = acquire(InterProcessReadWriteLock{other, path}.write_lock());
    for (int i = 0; i < 3; ++i) CHECK(acquire(InterProcessMutex{part, path_in_part}).is_held());
  }
  SECTION("a reader, where another client has a mutex") {
    const Lease theirs = acquire(InterProcessMutex{other, path});
    for (int i = 0; i < 3; ++i) CHECK(acquire(InterProcessReadWriteLock{part, path_in_part}.read_lock()).is_held());
  }
  REQUIRE(warnings().size() == 1);
  CHECK(warnings()[0].has("session=" + hexadecimal(client.session().id()) + " path=\"" + path + "\" lock="));
  path = fresh_path();
  const Lease theirs = acquire(InterProcessMutex{other, path});
  CHECK(acquire(InterProcessReadWriteLock{client, path}.write_lock()).is_held());
  CHECK(warnings().size() == 1);
}

TEST_CASE_METHOD(Fixture, "locks of one kind cause no warning, nor do foreign children beside them") {
  const Lease theirs = acquire(InterProcessReadWriteLock{other, path}.read_lock());
  for (const auto* name : {"/lease-0000000001", "/lock-1", "/_c_x-__lock__0000000001"})
    outcome_of_operation<CreateResult>(
        [&](auto token) { session.async_create(path + name, "", CreateMode::ephemeral, std::move(token)); });
  CHECK(acquire(InterProcessReadWriteLock{client, path}.read_lock()).is_held());
  CHECK(warnings().empty());
}
