#include "support/catch.hpp"
#include "support/lock_fixture.hpp"
#include "support/operations.hpp"

#include <zklock/recipes/locks/inter_process_multi_lock.hpp>
#include <zklock/recipes/locks/inter_process_semaphore_mutex.hpp>
#include <zklock/recipes/locks/revocation.hpp>

#include <cstdint>
#include <fstream>
#include <limits>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace zklock;
using namespace zklock::test;
using namespace std::chrono_literals;

namespace {

struct Fixture : LockFixture {
  InterProcessMutex mutex{client, path};
};

std::string data_at(const Session& session, const std::string& path) {
  return std::get<1>(
             outcome_of_operation<DataResult>([&](auto token) { session.async_get_data(path, std::move(token)); }))
      .data;
}

error_code create(const Session& session, const std::string& path, const std::string& data) {
  return std::get<0>(outcome_of_operation<CreateResult>(
      [&](auto token) { session.async_create(path, data, CreateMode::persistent, std::move(token)); }));
}

}  // namespace

TEST_CASE_METHOD(Fixture, "a lease says until when it is valid, and that time advances while it is held") {
  Lease lease = acquire(mutex);
  const auto first = lease.valid_until();
  CHECK(first > Clock::now());
  CHECK(first <= Clock::now() + session.timeout());
  CHECK(eventually([&] { return lease.valid_until() > first; }));
  CHECK(lease.remaining() > 0s);
  CHECK(lease.remaining() <= session.timeout());
  lease = Lease{};
  CHECK(lease.remaining() == 0s);
}

TEST_CASE_METHOD(Fixture,
                 "the time until which a lost lease was valid is past, and finite, so it can be computed with") {
  Lease lease = acquire(mutex);
  SECTION("lost") {
    Pending<> lost;
    lease.async_wait_lost(lost.handler());
    CHECK_FALSE(std::get<0>(
        outcome_of_operation<>([&](auto token) { session.async_remove(lease.node_path(), std::move(token)); })));
    CHECK_FALSE(std::get<0>(lost.get()));
    CHECK(lease.state() == LeaseState::lost);
  }
  SECTION("released") {
    CHECK_FALSE(std::get<0>(outcome_of_operation<>([&](auto token) { lease.async_release(std::move(token)); })));
  }
  SECTION("never held") { lease = Lease{}; }
  const auto ahead = lease.valid_until() - Clock::now();
  CHECK(ahead <= 0s);
  CHECK(ahead > -std::chrono::years{100});
  CHECK(lease.remaining() == 0s);
  // One try, not a wait without end.
  const Lease holder = acquire(mutex);
  CHECK_FALSE(mutex.try_lock_until(lease.valid_until()));
}

namespace {

/// A clock with any epoch.
template <std::int64_t now_is>
struct FixedClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<FixedClock>;
  static constexpr bool is_steady = true;
  static time_point now() noexcept { return time_point{duration{now_is}}; }
};

template <class AnyClock, class Duration = typename AnyClock::duration>
void check_deadlines(Client& client, const std::string& path) {
  using Moment = std::chrono::time_point<AnyClock, Duration>;
  InterProcessMutex mutex{client, path};
  InterProcessMultiLock several{client, {path}};
  InterProcessSemaphoreMutex single{client, path + "/single"};
  CHECK(mutex.try_lock_until(Moment::max()));
  CHECK(single.try_lock_until(Moment::max()));
  std::thread{[&] {
    CHECK_FALSE(mutex.try_lock_until(Moment::min()));
    CHECK_FALSE(several.try_lock_until(Moment::min()));
    CHECK_FALSE(single.try_lock_until(Moment::min()));
  }}.join();
  mutex.unlock();
  single.unlock();
}

}  // namespace

TEST_CASE_METHOD(Fixture, "any time point of any clock is a deadline: the last is for ever, the first is one try") {
  check_deadlines<std::chrono::system_clock>(client, path);
  check_deadlines<std::chrono::system_clock, std::chrono::hours>(client, path);
  check_deadlines<std::chrono::steady_clock>(client, path);
  check_deadlines<Clock>(client, path);
  check_deadlines<FixedClock<std::numeric_limits<std::int64_t>::min() + 1>>(client, path);
  check_deadlines<FixedClock<std::numeric_limits<std::int64_t>::max() - 1>>(client, path);
}

TEST_CASE_METHOD(Fixture, "a write behind a lease's guard is done while the lock is held, or not at all") {
  Lease lease = acquire(mutex);
  const std::string stock = fresh_path();
  REQUIRE_FALSE(create(session, stock, "1"));
  CHECK_FALSE(commit(client, lease.guard().set_data(stock, "0")));
  CHECK(data_at(session, stock) == "0");
  const Transaction late = lease.guard().set_data(stock, "-1");
  CHECK_FALSE(std::get<0>(outcome_of_operation<>([&](auto token) { lease.async_release(std::move(token)); })));
  CHECK(commit(client, late) == Error::no_node);
  CHECK(data_at(session, stock) == "0");
  CHECK_THROWS_AS(Lease{}.guard(), boost::system::system_error);
}

TEST_CASE_METHOD(Fixture, "a thread can ask its lock all that a lease can be asked") {
  CHECK(mutex.valid_until() < Clock::now());
  CHECK_THROWS_AS(mutex.guard(), boost::system::system_error);
  mutex.acquire();
  CHECK(mutex.valid_until() > Clock::now());
  CHECK_FALSE(commit(client, mutex.guard()));
  Pending<> lost;
  Pending<> asked;
  mutex.async_wait_lost(lost.handler());
  mutex.async_wait_revocation(asked.handler());
  mutex.release();
  CHECK(std::get<0>(lost.get()) == asio::error::operation_aborted);
  CHECK(std::get<0>(asked.get()) == asio::error::operation_aborted);
  CHECK_THROWS_AS(mutex.async_wait_lost(lost.handler()), boost::system::system_error);
}

TEST_CASE_METHOD(Fixture,
                 "a holder is told of a revocation request, and when it releases, the successor gets the lock") {
  Lease lease = acquire(mutex);
  Pending<> asked;
  lease.async_wait_revocation(asked.handler());
  Pending<Lease> next;
  const Client other = make_client(server);
  const InterProcessMutex theirs{other, path};
  theirs.async_acquire(next.handler());
  REQUIRE(eventually([&] { return children_of(session, path).size() == 2; }));
  CHECK_FALSE(asked.ready());
  attempt_revoke(other, lease.node_path());
  CHECK_FALSE(std::get<0>(asked.get()));
  CHECK(lease.is_held());
  CHECK_FALSE(next.ready());
  lease = Lease{};
  CHECK(std::get<1>(next.get()).is_held());
  attempt_revoke(other, path + "/nobody");  // the node is deleted already: there is no request to make
  CHECK_THROWS_AS(attempt_revoke(other, "no path"), boost::system::system_error);
}

TEST_CASE_METHOD(Fixture, "a wait for the loss of a lease ends when an operator deletes the holder's node") {
  Lease lease = acquire(mutex);
  Pending<> lost;
  lease.async_wait_lost(lost.handler());
  REQUIRE(eventually([&] { return server.monitor("zk_watch_count") >= 1; }));
  CHECK_FALSE(std::get<0>(
      outcome_of_operation<>([&](auto token) { session.async_remove(lease.node_path(), std::move(token)); })));
  CHECK_FALSE(std::get<0>(lost.get()));
  CHECK(lease.state() == LeaseState::lost);
  CHECK(std::get<0>(outcome_of_operation<>([&](auto token) { lease.async_release(std::move(token)); })) ==
        LockError::lock_lost);
  CHECK(lost.completions() == 1);
  CHECK(leaves_no_trace(server, session, path));
}

TEST_CASE("a holder whose server is gone is told of its loss once, and not before the lease expires", "[faults]") {
  testing::TestServer server;
  const Client client = make_client(server, 3s);
  const InterProcessMutex mutex{client, "/lock"};
  Lease lease = acquire(mutex);
  Pending<> lost;
  lease.async_wait_lost(lost.handler());
  const auto first = lease.valid_until();
  REQUIRE(eventually([&] { return lease.valid_until() > first; }));
  server.stop();
  Clock::time_point until = lease.valid_until();
  while (lease.state() != LeaseState::lost) {
    const auto now_until = lease.valid_until();
    if (lease.state() != LeaseState::lost) until = now_until;
    std::this_thread::yield();
  }
  const auto seen = Clock::now();
  CHECK_FALSE(std::get<0>(lost.get()));
  CHECK(seen >= until);
  CHECK(lost.completions() == 1);
}

namespace {

/// A process that holds the lock, is paused, and records what it observes when it goes on.
[[noreturn]] void hold_and_report(const testing::TestServer& server, const std::string& path, const std::string& stock,
                                  const std::filesystem::path& report) {
  int status = 1;
  try {
    const Client client = make_client(server, 4s);
    const InterProcessMutex mutex{client, path};
    Lease lease = acquire(mutex);
    Pending<> lost;
    lease.async_wait_lost(lost.handler());
    std::ofstream out{report};
    out << "held " << lease.is_held() << std::endl;
    // Reads the state without a pause, so that the first read after the stop is the first action of this process.
    auto before = Clock::now();
    LeaseState state = lease.state();
    while (state == LeaseState::held) {
      before = Clock::now();
      state = lease.state();
    }
    out << "saw " << to_string(state) << '\n';
    out << "gap_ms " << std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - before).count() << '\n';
    out << "written " << !commit(client, lease.guard().set_data(stock, "stale")) << '\n';
    out << "told " << !std::get<0>(lost.get()) << '\n';
    out << "times " << lost.completions() << std::endl;
    status = 0;
  } catch (const std::exception& error) {
    std::ofstream{report, std::ios::app} << "threw " << error.what() << std::endl;
  }
  ::_exit(status);
}

std::string word_after(const std::filesystem::path& file, const std::string& key) {
  std::ifstream in{file};
  std::string word;
  std::string value;
  while (in >> word >> value)
    if (word == key) return value;
  return {};
}

}  // namespace

TEST_CASE("a holder that was paused for twice the timeout sees its loss first, and its guarded write is refused",
          "[faults]") {
  testing::TestServer server;
  const std::string path = "/lock";
  const std::string stock = "/stock";
  const auto report = server.directory() / "report";
  const pid_t child = ::fork();  // before this process has a thread of zklock
  REQUIRE(child >= 0);
  if (child == 0) hold_and_report(server, path, stock, report);

  const Client client = make_client(server);
  const Session session = connected_session(client);
  REQUIRE_FALSE(create(session, stock, "1"));
  const bool held = eventually([&] { return word_after(report, "held") == "1"; });
  const InterProcessMutex mutex{client, path};
  Pending<Lease> next;
  mutex.async_acquire(next.handler());
  const bool queue_length = held && eventually([&] { return children_of(session, path).size() == 2; });
  ::kill(child, SIGSTOP);
  const auto stopped = Clock::now();
  const bool granted = queue_length && eventually([&] { return next.ready(); });
  if (granted) {
    Lease lease = std::get<1>(next.get());
    CHECK_FALSE(commit(client, lease.guard().set_data(stock, "0")));
    static_cast<void>(eventually([&] { return Clock::now() >= stopped + 6s; }));
    ::kill(child, SIGCONT);
    int status = 1;
    CHECK(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(lease.is_held());
  } else {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  REQUIRE(granted);
  CHECK(word_after(report, "saw") == "lost");
  CHECK(word_after(report, "written") == "0");
  CHECK(word_after(report, "told") == "1");
  CHECK(word_after(report, "times") == "1");
  CHECK(word_after(report, "threw").empty());
  CHECK(data_at(session, stock) == "0");
}
