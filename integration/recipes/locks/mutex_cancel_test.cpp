// The end of operations of an InterProcessMutex: by a time-out, by a cancel, and with the client.
#include "support/catch.hpp"
#include "support/lock_fixture.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>

#include <future>

using namespace zklock;
using namespace zklock::test;

namespace {

struct Fixture : LockFixture {
  InterProcessMutex mutex{client, path};
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a wait that times out, and a try that fails, leave no trace") {
  const Lease holder = acquire(mutex);
  for (const auto wait : {-1ms, 0ms, 1ms, 30ms}) {
    const auto start = std::chrono::steady_clock::now();
    const auto [error, lease] =
        outcome_of_operation<Lease>([&](auto token) { mutex.async_acquire(wait, std::move(token)); });
    CHECK(error == Error::timed_out);
    CHECK_FALSE(lease);
    CHECK(std::chrono::steady_clock::now() - start >= wait);
    CHECK(holder.is_held());
  }
  CHECK(eventually([&] { return children_of(session, path).size() == 1 && node_watches(server) == 0; }));
}

TEST_CASE_METHOD(Fixture, "cancelling at any moment completes once, and leaves no trace") {
  const Lease holder = acquire(mutex);
  for (int round = 0; round < 120; ++round) {
    asio::cancellation_signal cancel;
    Pending<Lease> pending;
    mutex.async_acquire(asio::bind_cancellation_slot(cancel.slot(), pending.handler()));
    // Lets the attempt come as far as `round` says: the test's requests are answered in order with those of the
    // attempt.
    for (int step = 0; step < round % 6; ++step)
      static_cast<void>(outcome_of_operation<>([&](auto token) { session.async_sync("/", std::move(token)); }));
    const auto types = {asio::cancellation_type::terminal, asio::cancellation_type::partial,
                        asio::cancellation_type::total};
    cancel.emit(types.begin()[round % 3]);
    cancel.emit(asio::cancellation_type::terminal);
    const auto [error, lease] = pending.get();
    CHECK(error == asio::error::operation_aborted);
    CHECK_FALSE(lease);
    CHECK(pending.completions() == 1);
  }
  CHECK(eventually([&] { return children_of(session, path).size() == 1 && node_watches(server) == 0; }));
}

TEST_CASE_METHOD(Fixture, "a cancel that comes after the grant changes nothing") {
  asio::cancellation_signal cancel;
  Pending<Lease> pending;
  mutex.async_acquire(asio::bind_cancellation_slot(cancel.slot(), pending.handler()));
  auto [error, lease] = pending.get();
  REQUIRE_FALSE(error);
  cancel.emit(asio::cancellation_type::terminal);
  CHECK(lease.is_held());
  CHECK(children_of(session, path).size() == 1);
}

TEST_CASE_METHOD(Fixture,
                 "destroying the client while attempts are at every step completes each of them and leaves no node") {
  const Lease holder = acquire(mutex);
  for (int round = 0; round < 12; ++round) {
    std::vector<Pending<Lease>> pending(4);
    {
      Client other = make_client(server);
      const InterProcessMutex theirs{other, path};
      if (round % 4 != 0) static_cast<void>(connected_session(other));
      for (auto& one : pending) theirs.async_acquire(one.handler());
      if (round % 4 == 2) REQUIRE(eventually([&] { return children_of(session, path).size() > 1; }));
      if (round % 4 == 3) REQUIRE(eventually([&] { return children_of(session, path).size() == 5; }));
    }
    for (auto& one : pending) {
      const auto [error, lease] = one.get();
      CHECK((error == Error::closing || error == Error::closed));
      CHECK_FALSE(lease);
      CHECK(one.completions() == 1);
    }
  }
  CHECK(eventually([&] { return children_of(session, path).size() == 1 && node_watches(server) == 0; }));
}

TEST_CASE_METHOD(Fixture, "a lease and a mutex outlive their client without harm") {
  Lease lease;
  {
    Client brief = make_client(server);
    const InterProcessMutex theirs{brief, path};
    lease = acquire(theirs);
  }
  CHECK(lease.state() == LeaseState::lost);
  CHECK(std::get<0>(outcome_of_operation<>([&](auto token) { lease.async_release(std::move(token)); })) ==
        LockError::lock_lost);
  CHECK(acquire(mutex).is_held());
}

TEST_CASE_METHOD(Fixture, "a wait for the loss of a lease ends with its release") {
  Lease lease = acquire(mutex);
  Pending<> lost;
  lease.async_wait_lost(lost.handler());
  CHECK_FALSE(lost.ready(50ms));
  SECTION("awaited") {
    CHECK_FALSE(std::get<0>(outcome_of_operation<>([&](auto token) { lease.async_release(std::move(token)); })));
  }
  SECTION("in the background") { lease = Lease{}; }
  CHECK(std::get<0>(lost.get()) == asio::error::operation_aborted);
}

TEST_CASE_METHOD(Fixture, "waiting for the loss of a lease can be cancelled") {
  Lease lease = acquire(mutex);
  asio::cancellation_signal cancel;
  Pending<> lost;
  lease.async_wait_lost(asio::bind_cancellation_slot(cancel.slot(), lost.handler()));
  cancel.emit(asio::cancellation_type::total);
  CHECK(std::get<0>(lost.get()) == asio::error::operation_aborted);
  CHECK(lease.is_held());
}

TEST_CASE_METHOD(Fixture, "slow handlers all run, also when the client ends before them") {
  const Lease holder = acquire(mutex);
  std::vector<Pending<>> pending(5);
  {
    Client other = make_client(server);
    const InterProcessMutex theirs{other, path};
    for (auto& one : pending)
      theirs.async_acquire([handler = one.handler()](error_code error, Lease) mutable {
        static_cast<void>(eventually([] { return false; }, 30ms));
        handler(error);
      });
    REQUIRE(eventually([&] { return children_of(session, path).size() == 6; }));
  }
  for (auto& one : pending) CHECK(std::get<0>(one.get()) == Error::closing);
}

TEST_CASE_METHOD(Fixture, "a cancel from the client's own thread does not overtake the start of its operation") {
  const Lease holder = acquire(mutex);
  asio::cancellation_signal cancel;
  Pending<Lease> pending;
  Pending<> busy;
  std::promise<void> started;
  asio::post(client.get_executor(), [&, handler = busy.handler(), wait = started.get_future()]() mutable {
    wait.wait();  // meanwhile the start is queued behind this handler
    cancel.emit(asio::cancellation_type::terminal);
    handler(error_code{});
  });
  mutex.async_acquire(asio::bind_cancellation_slot(cancel.slot(), pending.handler()));
  started.set_value();
  CHECK_FALSE(std::get<0>(busy.get()));
  CHECK(std::get<0>(pending.get()) == asio::error::operation_aborted);
  CHECK(eventually([&] { return children_of(session, path).size() == 1; }));
}
