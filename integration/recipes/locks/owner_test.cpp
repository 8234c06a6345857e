#include "support/catch.hpp"
#include "support/lock_fixture.hpp"

#include <zklock/recipes/locks/lock_data.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

using namespace zklock;
using namespace zklock::test;
using namespace std::chrono_literals;

namespace {

struct Fixture : LockFixture {
  InterProcessMutex mutex{client, path};
  InterProcessMutex other{client, path};
};

std::tuple<error_code, Lease> acquire_as(const InterProcessMutex& mutex, Owner owner) {
  return outcome_of_operation<Lease>([&](auto token) { mutex.async_acquire(owner, std::move(token)); });
}

error_code release(Lease& lease) {
  return std::get<0>(outcome_of_operation<>([&](auto token) { lease.async_release(std::move(token)); }));
}

}  // namespace

TEST_CASE_METHOD(Fixture, "an owner enters again by any object on the path, and leaves as often as it entered") {
  const Owner owner = Owner::make();
  auto [error, first] = acquire_as(mutex, owner);
  REQUIRE_FALSE(error);
  auto [failed, second] = acquire_as(other, owner);
  REQUIRE_FALSE(failed);
  CHECK(second.node_path() == first.node_path());
  CHECK(second.fencing_token() == first.fencing_token());
  CHECK(first.count() == 2);
  CHECK(children_of(session, path).size() == 1);
  const std::string node = first.node_path();
  CHECK(eventually([&] { return data_of(node) == format_lock_data({client.client_id(), 2}); }));

  Pending<Lease> foreign;
  mutex.async_acquire(foreign.handler());
  REQUIRE(eventually([&] { return children_of(session, path).size() == 2; }));
  CHECK_FALSE(release(first));
  CHECK(first.state() == LeaseState::released);
  CHECK(second.is_held());
  CHECK(release(first) == LockError::not_owner);
  CHECK(second.is_held());
  CHECK_FALSE(foreign.ready(100ms));
  CHECK(eventually([&] { return data_of(node) == format_lock_data({client.client_id(), 1}); }));
  CHECK_FALSE(release(second));
  CHECK(std::get<1>(foreign.get()).is_held());
}

TEST_CASE_METHOD(Fixture, "an owner that acquires several times at once enqueues once") {
  Lease holder = acquire(mutex);
  const Owner owner = Owner::make();
  std::vector<Pending<Lease>> pending(5);
  for (auto& each : pending) mutex.async_acquire(owner, each.handler());
  REQUIRE(eventually([&] { return children_of(session, path).size() == 2; }));
  Pending<Lease> in_vain;
  mutex.async_acquire(owner, 0s, in_vain.handler());
  CHECK(std::get<0>(in_vain.get()) == Error::timed_out);
  holder = Lease{};
  std::vector<Lease> leases;
  for (auto& each : pending) leases.push_back(std::get<1>(each.get()));
  for (const Lease& lease : leases) CHECK(lease.node_path() == leases.front().node_path());
  CHECK(leases.front().count() == 5);
  CHECK(children_of(session, path).size() == 1);
  leases.clear();
  CHECK(leaves_no_trace(server, session, path));
}

TEST_CASE_METHOD(Fixture, "an owner whose first wait is cancelled goes on waiting") {
  Lease holder = acquire(mutex);
  const Owner owner = Owner::make();
  asio::cancellation_signal cancel;
  Pending<Lease> first;
  Pending<Lease> second;
  mutex.async_acquire(owner, asio::bind_cancellation_slot(cancel.slot(), first.handler()));
  mutex.async_acquire(owner, second.handler());
  REQUIRE(eventually([&] { return children_of(session, path).size() == 2; }));
  cancel.emit(asio::cancellation_type::terminal);
  CHECK(std::get<0>(first.get()) == asio::error::operation_aborted);
  CHECK_FALSE(second.ready(100ms));
  holder = Lease{};
  CHECK(std::get<1>(second.get()).is_held());
}

TEST_CASE_METHOD(Fixture, "a thread and a coroutine may own a lock together, by the thread's Owner") {
  mutex.acquire();
  auto [error, lease] = acquire_as(other, Owner::this_thread());
  REQUIRE_FALSE(error);
  CHECK(lease.count() == 2);
  std::thread{[&] { CHECK_FALSE(other.try_lock()); }}.join();
  mutex.release();
  CHECK(lease.is_held());
  CHECK_FALSE(mutex.is_owned_by_current_thread());
  CHECK(mutex.is_acquired_in_this_process());
  std::thread{[&] { CHECK_FALSE(other.try_lock()); }}.join();
  CHECK_FALSE(release(lease));
  CHECK_FALSE(mutex.is_acquired_in_this_process());
}

TEST_CASE_METHOD(Fixture, "a lock acquired by one object is released by another, or when the last object ends") {
  auto temporary = std::make_unique<InterProcessMutex>(client, path);
  temporary->acquire();
  temporary.reset();
  CHECK(mutex.is_owned_by_current_thread());
  mutex.release();
  CHECK(leaves_no_trace(server, session, path));
  const std::string elsewhere = fresh_path();
  {
    InterProcessMutex last{client, elsewhere};
    last.acquire();
    last.acquire();
  }
  CHECK(leaves_no_trace(server, session, elsewhere));
}

TEST_CASE_METHOD(Fixture, "a thousand re-entries and releases wait for no reply of the server") {
  mutex.acquire();
  const std::string node = path + "/" + children_of(session, path).front();
  const auto before = server.monitor("zk_packets_received");
  for (int i = 0; i < 1'000; ++i) mutex.acquire();
  CHECK(eventually([&] { return data_of(node) == format_lock_data({client.client_id(), 1'001}); }));
  for (int i = 0; i < 1'000; ++i) mutex.release();
  CHECK(eventually([&] { return data_of(node) == format_lock_data({client.client_id(), 1}); }));
  CHECK(server.monitor("zk_packets_received") - before < 500);  // the newest count wins
  mutex.release();
}

TEST_CASE_METHOD(Fixture, "10 threads with one mutex are inside one at a time, and each may re-enter") {
  constexpr int rounds = 10;
  std::atomic<int> inside{0};
  std::atomic<int> overlaps{0};
  std::atomic<int> entered{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 10; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < rounds; ++n) {
        const std::unique_lock guard{mutex};
        if (++inside != 1) ++overlaps;
        std::this_thread::yield();
        {
          const std::unique_lock nested{other};
          if (!mutex.is_owned_by_current_thread()) ++overlaps;
        }
        ++entered;
        --inside;
      }
    });
  for (std::thread& each : threads) each.join();
  CHECK(overlaps == 0);
  CHECK(entered == 10 * rounds);
  CHECK(leaves_no_trace(server, session, path));
}
