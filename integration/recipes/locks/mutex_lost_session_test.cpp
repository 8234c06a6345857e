// InterProcessMutex when the servers end sessions.
#include "support/catch.hpp"
#include "support/lock_fixture.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

using namespace zklock;
using namespace zklock::test;

namespace {

struct Fixture : LockFixture {
  InterProcessMutex mutex{client, path};

  void end(const Session& victim) {
    const SessionCredentials credentials = victim.credentials();
    server.end_session(credentials.id, {credentials.password.data(), credentials.password.size()});
  }
};

/// A retry policy that records each failure, and gives up at the third.
struct Recorder {
  struct Told {
    std::mutex mutex;
    std::vector<FailedTry> failures;
  };
  static constexpr std::chrono::milliseconds wait{10};

  [[nodiscard]] std::optional<std::chrono::milliseconds> wait_before(const FailedTry& failed) const noexcept {
    const std::scoped_lock lock{told->mutex};
    told->failures.push_back(failed);
    return failed.retry < 2 ? std::optional{wait} : std::nullopt;
  }
  void validate() const {}
  [[nodiscard]] std::vector<FailedTry> failures() const {
    const std::scoped_lock lock{told->mutex};
    return told->failures;
  }

  std::shared_ptr<Told> told = std::make_shared<Told>();
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a waiter whose session is ended enqueues again", "[faults]") {
  const Client other = make_client(server);
  const InterProcessMutex theirs{other, path};
  Lease holder = acquire(theirs);
  Pending<Lease> waiter;
  mutex.async_acquire(waiter.handler());
  REQUIRE(eventually([&] { return children_of(other.session(), path).size() == 2; }));
  end(session);
  REQUIRE(eventually(
      [&] { return session.state() == SessionState::expired && children_of(other.session(), path).size() == 2; }));
  holder = Lease{};
  const auto [error, lease] = waiter.get();
  CHECK_FALSE(error);
  CHECK(lease.is_held());
}

TEST_CASE_METHOD(Fixture, "a waiter whose session is ended gets an error, if its policy asks for that", "[faults]") {
  const Client other{{.connect_string = server.connect_string(),
                      .session_timeout = session_timeout,
                      .retry = SessionFailedRetryPolicy{RetryForever{10ms}}}};
  const Lease holder = acquire(mutex);
  Pending<Lease> waiter;
  InterProcessMutex{other, path}.async_acquire(waiter.handler());
  REQUIRE(eventually([&] { return queue_length() == 2; }));
  end(other.session());
  CHECK(std::get<0>(waiter.get()) == Error::session_expired);
}

TEST_CASE_METHOD(Fixture, "a policy is told how often and how long an attempt has failed, and why", "[faults]") {
  const Recorder recorder;
  const Client other{
      {.connect_string = server.connect_string(), .session_timeout = session_timeout, .retry = recorder}};
  const Lease holder = acquire(mutex);
  const auto start = Clock::now();
  Pending<Lease> waiter;
  InterProcessMutex{other, path}.async_acquire(waiter.handler());
  for (std::size_t failures = 1; failures <= 3; ++failures) {
    REQUIRE(eventually([&] { return queue_length() == 2; }));
    end(other.session());
    REQUIRE(eventually([&] { return recorder.failures().size() == failures; }));
  }
  CHECK(std::get<0>(waiter.get()) == Error::session_expired);
  const auto failures = recorder.failures();
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(failures[i].retry == static_cast<int>(i));
    CHECK(failures[i].error == Error::session_expired);
    CHECK(failures[i].elapsed > (i == 0 ? 0ms : failures[i - 1].elapsed + Recorder::wait));
    CHECK(failures[i].elapsed < Clock::now() - start);
  }
  CHECK(failures[0].random != failures[1].random);
}

TEST_CASE_METHOD(Fixture, "a holder whose session is ended is told, cannot re-enter, and can acquire anew",
                 "[faults]") {
  Lease lease = acquire(mutex);
  Pending<> lost;
  lease.async_wait_lost(lost.handler());
  CHECK_FALSE(lost.ready(50ms));
  end(session);
  CHECK_FALSE(std::get<0>(lost.get()));
  CHECK(lease.state() == LeaseState::lost);
  CHECK(std::get<0>(outcome_of_operation<>([&](auto token) { lease.async_release(std::move(token)); })) ==
        LockError::lock_lost);

  mutex.lock();
  const std::int64_t token = mutex.fencing_token();
  const Session holding = client.session();
  end(holding);
  REQUIRE(eventually([&] { return holding.state() == SessionState::expired; }));
  CHECK_FALSE(mutex.is_owned_by_current_thread());
  CHECK_FALSE(mutex.is_acquired_in_this_process());
  CHECK_THROWS_AS(mutex.lock(), boost::system::system_error);
  CHECK_THROWS_AS(mutex.release(), boost::system::system_error);
  mutex.lock();
  CHECK(mutex.fencing_token() > token);
  mutex.release();
}
