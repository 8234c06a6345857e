// Releasing a lock while the server does not answer.
#include "support/catch.hpp"
#include "support/lock_fixture.hpp"

#include <zklock/recipes/locks/inter_process_multi_lock.hpp>
#include <zklock/recipes/locks/inter_process_semaphore_mutex.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>

#include <memory>

using namespace zklock;
using namespace zklock::test;

namespace {

/// A server that the tests pause, for less than the session timeout.
struct Fixture : OwnServer, LockFixture {
  Fixture() : LockFixture{own_server, 9s} {}
  InterProcessMutex mutex{client, path};

  /// Checks that the lock is free once the server is back, without the end of the session.
  void check_that_it_is_free_later() {
    server.resume();
    CHECK(eventually([&] { return children_of(session, path).empty(); }));
    CHECK(session == client.session());
    CHECK(session.state() != SessionState::expired);
  }
};

/// Emits the signal on the executor where it may be used.
void cancel(const Client& client, const std::shared_ptr<asio::cancellation_signal>& signal) {
  asio::post(client.get_executor(), [signal] { signal->emit(asio::cancellation_type::terminal); });
}

}  // namespace

TEST_CASE_METHOD(Fixture, "a release ends at its deadline, and the delete goes on", "[faults]") {
  Lease lease = acquire(mutex);
  server.pause();
  Pending<> released;
  lease.async_release(100ms, released.handler());
  CHECK(std::get<0>(released.get()) == Error::timed_out);
  CHECK(lease.state() == LeaseState::released);
  CHECK(std::get<0>(outcome_of_operation<>([&](auto token) { lease.async_release(std::move(token)); })) ==
        LockError::not_owner);
  check_that_it_is_free_later();
  CHECK(released.completions() == 1);
}

TEST_CASE_METHOD(Fixture, "a release that is cancelled completes at once, and the delete goes on", "[faults]") {
  Lease lease = acquire(mutex);
  server.pause();
  const auto signal = std::make_shared<asio::cancellation_signal>();
  Pending<> released;
  lease.async_release(asio::bind_cancellation_slot(signal->slot(), released.handler()));
  CHECK_FALSE(released.ready(50ms));
  cancel(client, signal);
  CHECK(std::get<0>(released.get()) == asio::error::operation_aborted);
  check_that_it_is_free_later();
  cancel(client, signal);
  CHECK(acquire(mutex).is_held());
  CHECK(released.completions() == 1);
}

TEST_CASE_METHOD(Fixture, "a release that is done in time reports success, and a later cancel changes nothing") {
  const auto signal = std::make_shared<asio::cancellation_signal>();
  Lease lease = acquire(mutex);
  Pending<> released;
  lease.async_release(20s, asio::bind_cancellation_slot(signal->slot(), released.handler()));
  CHECK_FALSE(std::get<0>(released.get()));
  cancel(client, signal);
  mutex.acquire();
  CHECK(mutex.release(20s));
  CHECK(released.completions() == 1);
  CHECK(children_of(session, path).empty());
}

TEST_CASE_METHOD(Fixture, "a blocking release ends at its deadline, and the thread holds nothing any more",
                 "[faults]") {
  SECTION("of a mutex") {
    mutex.acquire();
    mutex.acquire();
    server.pause();
    CHECK(mutex.release(100ms));  // only the count falls: no request is sent
    CHECK_FALSE(mutex.release(100ms));
    CHECK_FALSE(mutex.is_owned_by_current_thread());
    CHECK_THROWS_AS(mutex.release(100ms), boost::system::system_error);
  }
  SECTION("of a semaphore mutex") {
    path = "/locks/single/leases";
    InterProcessSemaphoreMutex single{client, "/locks/single"};
    single.acquire();
    server.pause();
    CHECK_FALSE(single.release(100ms));
    CHECK_FALSE(single.is_acquired_in_this_process());
  }
  SECTION("of a multi-lock, with one deadline for all locks") {
    InterProcessMultiLock several{client, {path, "/locks/b", "/locks/c"}};
    several.acquire();
    server.pause();
    CHECK_FALSE(several.release(100ms));
    CHECK_FALSE(several.is_owned_by_current_thread());
  }
  check_that_it_is_free_later();
}

TEST_CASE_METHOD(Fixture, "a multi-lock's release ends at its deadline and when it is cancelled, and the deletes go on",
                 "[faults]") {
  const InterProcessMultiLock several{client, {path, "/locks/b"}};
  auto [error, lease] = outcome_of_operation<MultiLease>([&](auto token) { several.async_acquire(std::move(token)); });
  REQUIRE_FALSE(error);
  server.pause();
  Pending<> released;
  SECTION("the deadline") {
    lease.async_release(100ms, released.handler());
    CHECK(std::get<0>(released.get()) == Error::timed_out);
  }
  SECTION("cancelled") {
    const auto signal = std::make_shared<asio::cancellation_signal>();
    lease.async_release(asio::bind_cancellation_slot(signal->slot(), released.handler()));
    CHECK_FALSE(released.ready(50ms));
    cancel(client, signal);
    CHECK(std::get<0>(released.get()) == asio::error::operation_aborted);
  }
  check_that_it_is_free_later();
  CHECK(eventually([&] { return children_of(session, "/locks/b").empty(); }));
}
