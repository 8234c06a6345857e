// InterProcessMutex while servers, sessions and processes die.
#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/frame_proxy.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <csignal>
#include <mutex>

#include <sys/wait.h>
#include <unistd.h>

using namespace zklock;
using namespace zklock::test;

namespace {

constexpr std::chrono::milliseconds brief = slack > 1s ? 6s : 2s;

struct Fixture {
  testing::TestServer server;
  Client client = make_client(server, brief);
  Session session = connected_session(client);
  std::string path = "/locks/a";
  InterProcessMutex mutex{client, path};

  void end(const Session& victim) {
    const SessionCredentials credentials = victim.credentials();
    server.end_session(credentials.id, {credentials.password.data(), credentials.password.size()});
  }
  [[nodiscard]] std::size_t queue_length() const { return children_of(client.session(), path).size(); }
};

/// Remembers what it was told, and gives up at the third failure.
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

TEST_CASE_METHOD(Fixture, "waiters keep their places while the server is killed and restarted", "[faults]") {
  const Client other = make_client(server, 8s);
  const InterProcessMutex theirs{other, path};
  static_cast<void>(connected_session(other));
  Lease holder = acquire(theirs);
  std::vector<Pending<Lease>> waiters(6);
  for (auto& waiter : waiters) {
    const auto expected = queue_length() + 1;
    theirs.async_acquire(waiter.handler());
    REQUIRE(eventually([&] { return queue_length() == expected; }));
  }
  server.kill();
  server.start();
  REQUIRE(eventually([&] { return holder.is_held(); }));
  std::int64_t last = holder.fencing_token();
  for (auto& waiter : waiters) {
    CHECK_FALSE(waiter.ready());
    holder = Lease{};
    auto [error, lease] = waiter.get();
    REQUIRE_FALSE(error);
    CHECK(lease.fencing_token() > last);
    last = lease.fencing_token();
    holder = std::move(lease);
  }
  holder = Lease{};
  REQUIRE(client.wait_connected(20s));
  CHECK(leaves_no_trace(server, client.session(), path));
}

TEST_CASE_METHOD(Fixture, "a release while the server is away is done when it is back", "[faults]") {
  const Client other = make_client(server, 8s);
  const InterProcessMutex theirs{other, path};
  SECTION("in the background") {
    {
      const Lease lease = acquire(theirs);
      server.kill();
    }
    server.start();
  }
  SECTION("awaited") {
    Lease lease = acquire(theirs);
    server.kill();
    Pending<> released;
    lease.async_release(released.handler());
    CHECK_FALSE(released.ready(50ms));
    server.start();
    CHECK_FALSE(std::get<0>(released.get()));
  }
  REQUIRE(client.wait_connected(20s));
  CHECK(leaves_no_trace(server, client.session(), path));
  CHECK(other.session().state() == SessionState::connected);
}

TEST_CASE_METHOD(Fixture, "a create whose reply was lost is found again, not repeated", "[faults]") {
  FrameProxy proxy{server.port()};
  const Client other{{.connect_string = proxy.address(), .session_timeout = 9s}};
  const InterProcessMutex theirs{other, path};
  const Session their_session = connected_session(other);
  const Lease ahead = acquire(mutex);  // keeps the directory, and the attempt in line
  asio::cancellation_signal cancel;
  Pending<Lease> pending;
  proxy.hold(Direction::replies);
  theirs.async_acquire(asio::bind_cancellation_slot(cancel.slot(), pending.handler()));
  REQUIRE(eventually([&] { return queue_length() == 2; }));
  SECTION("by the attempt") {
    proxy.cut();
    REQUIRE(eventually([&] { return server.monitor("zk_watch_count") == 1; }));
    CHECK(queue_length() == 2);
    CHECK_FALSE(pending.ready());
    cancel.emit(asio::cancellation_type::terminal);
  }
  SECTION("by the clean-up, if the attempt was cancelled meanwhile") {
    cancel.emit(asio::cancellation_type::terminal);
    CHECK(std::get<0>(pending.get(1s)) == asio::error::operation_aborted);
    proxy.cut();
  }
  CHECK(eventually([&] { return queue_length() == 1 && server.monitor("zk_watch_count") == 0; }));
  CHECK(other.session() == their_session);
  CHECK(their_session.state() == SessionState::connected);
}

TEST_CASE_METHOD(Fixture, "a create that never reached the server is made once", "[faults]") {
  const Client other = make_client(server, 9s);
  const InterProcessMutex theirs{other, path};
  const Session their_session = connected_session(other);
  Pending<Lease> pending;
  server.pause();  // what is sent now waits in the server's socket, and goes with it
  theirs.async_acquire(pending.handler());
  REQUIRE(eventually([&] { return their_session.state() == SessionState::suspended; }));
  server.resume();
  auto [error, lease] = pending.get();
  REQUIRE_FALSE(error);
  CHECK(lease.is_held());
  REQUIRE(client.wait_connected(20s));
  CHECK(queue_length() == 1);
}

TEST_CASE_METHOD(Fixture, "a release whose reply was lost is done, and reported as done", "[faults]") {
  FrameProxy proxy{server.port()};
  const Client other{{.connect_string = proxy.address(), .session_timeout = 9s}};
  const InterProcessMutex theirs{other, path};
  Lease lease = acquire(theirs);
  const Lease behind = [&] {
    Pending<Lease> waiter;
    mutex.async_acquire(waiter.handler());
    REQUIRE(eventually([&] { return queue_length() == 2; }));
    proxy.hold(Direction::replies);
    Pending<> released;
    lease.async_release(released.handler());
    auto [error, next] = waiter.get();  // so the delete was carried out
    REQUIRE_FALSE(error);
    CHECK_FALSE(released.ready());
    proxy.cut();
    CHECK_FALSE(std::get<0>(released.get()));
    return std::move(next);
  }();
  CHECK(behind.is_held());
}

TEST_CASE_METHOD(Fixture, "a waiter whose session is ended stands in line again", "[faults]") {
  const Client other = make_client(server, brief);
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

TEST_CASE_METHOD(Fixture, "a waiter whose session is ended is told so, if its policy asks for that", "[faults]") {
  const Client other{{.connect_string = server.connect_string(),
                      .session_timeout = brief,
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
  const Client other{{.connect_string = server.connect_string(), .session_timeout = brief, .retry = recorder}};
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

TEST_CASE_METHOD(Fixture, "a holder whose session is ended is told, cannot nest, and can start afresh", "[faults]") {
  Lease lease = acquire(mutex);
  Pending<> lost;
  lease.async_wait_lost(lost.handler());
  CHECK_FALSE(lost.ready(50ms));
  end(session);
  CHECK_FALSE(std::get<0>(lost.get()));
  CHECK(lease.state() == LeaseState::lost);
  CHECK(std::get<0>(outcome_of_operation<>([&](auto token) { lease.async_release(std::move(token)); })) ==
        Error::lock_lost);

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

TEST_CASE_METHOD(Fixture, "a holder that cannot reach the server is told within the session timeout", "[faults]") {
  Lease lease = acquire(mutex);
  Pending<> lost;
  lease.async_wait_lost(lost.handler());
  const auto start = std::chrono::steady_clock::now();
  server.pause();
  REQUIRE(eventually([&] { return lease.state() == LeaseState::suspect; }, brief));
  CHECK_FALSE(std::get<0>(lost.get()));
  CHECK(std::chrono::steady_clock::now() - start <= session.timeout() + slack);
  server.resume();
}

TEST_CASE_METHOD(Fixture, "a deadline holds while the server is away, and leaves no trace when it is back",
                 "[faults]") {
  { const Lease warm = acquire(mutex); }
  const Client other = make_client(server, 9s);
  const InterProcessMutex theirs{other, path};
  static_cast<void>(connected_session(other));
  server.pause();
  const auto start = std::chrono::steady_clock::now();
  const auto [error, lease] =
      outcome_of_operation<Lease>([&](auto token) { theirs.async_acquire(300ms, std::move(token)); });
  CHECK(error == Error::timed_out);
  CHECK(std::chrono::steady_clock::now() - start < 300ms + slack);
  server.resume();
  REQUIRE(client.wait_connected(20s));
  CHECK(leaves_no_trace(server, client.session(), path));
}

TEST_CASE_METHOD(Fixture, "an operator who deletes a waiter's node sends it to the end of the line", "[faults]") {
  Lease holder = acquire(mutex);
  const Client other = make_client(server, 9s);
  const InterProcessMutex theirs{other, path};
  Pending<Lease> second;
  theirs.async_acquire(second.handler());
  REQUIRE(eventually([&] { return queue_length() == 2; }));
  Pending<Lease> third;
  mutex.async_acquire(third.handler());
  REQUIRE(eventually([&] { return queue_length() == 3 && server.monitor("zk_watch_count") == 2; }));
  const auto line = std::get<1>(
      outcome_of_operation<std::vector<Participant>>([&](auto token) { mutex.async_participants(std::move(token)); }));
  outcome_of_operation<>([&](auto token) { session.async_remove(line.at(2).node_path, std::move(token)); });
  holder = Lease{};
  std::get<1>(second.get()) = Lease{};
  const auto [error, lease] = third.get();
  CHECK_FALSE(error);
  CHECK(lease.is_held());
  CHECK(lease.node_path() != line.at(2).node_path);
}

TEST_CASE_METHOD(Fixture,
                 "an operator who deletes a waiter's node takes the lock from it, at the latest when it gets it",
                 "[faults]") {
  Lease holder = acquire(mutex);
  Pending<Lease> first;
  const Client other = make_client(server, 9s);
  const InterProcessMutex theirs{other, path};
  const bool all = GENERATE(false, true);
  SECTION("a stranger's") {
    theirs.async_acquire(first.handler());
    REQUIRE(eventually([&] { return queue_length() == 2 && server.monitor("zk_watch_count") == 1; }));
  }
  SECTION("a sibling's") {
    mutex.async_acquire(first.handler());
    REQUIRE(eventually([&] { return queue_length() == 2; }));
  }
  const auto look =
      outcome_of_operation<std::vector<Participant>>([&](auto token) { mutex.async_participants(std::move(token)); });
  REQUIRE_FALSE(std::get<0>(look));
  const std::vector<Participant>& line = std::get<1>(look);
  if (all) {
    const Transaction everything = Transaction{}.remove(line.at(0).node_path).remove(line.at(1).node_path).remove(path);
    CHECK_FALSE(std::get<0>(outcome_of_operation<TransactionResults>(
        [&](auto token) { session.async_commit(everything, std::move(token)); })));
  } else {
    REQUIRE_FALSE(std::get<0>(
        outcome_of_operation<>([&](auto token) { session.async_remove(line.at(1).node_path, std::move(token)); })));
  }
  holder = Lease{};
  Lease taken = std::get<1>(first.get());
  CHECK(eventually([&] { return taken.state() == LeaseState::lost; }));
  taken = Lease{};
  CHECK(acquire(theirs).is_held());
}

TEST_CASE_METHOD(Fixture, "a sibling whose node an operator has deleted has lost the lock before the next one gets it",
                 "[faults]") {
  Lease holder = acquire(mutex);
  Pending<Lease> sibling;
  mutex.async_acquire(sibling.handler());
  REQUIRE(eventually([&] { return queue_length() == 2; }));
  const Client other = make_client(server, 9s);
  const InterProcessMutex theirs{other, path};
  Pending<Lease> stranger;
  theirs.async_acquire(stranger.handler());
  REQUIRE(eventually([&] { return queue_length() == 3 && server.monitor("zk_watch_count") == 1; }));
  const auto line = std::get<1>(
      outcome_of_operation<std::vector<Participant>>([&](auto token) { mutex.async_participants(std::move(token)); }));
  outcome_of_operation<>([&](auto token) { session.async_remove(line.at(1).node_path, std::move(token)); });
  SECTION("it is given back without waiting") { holder = Lease{}; }
  SECTION("the release is awaited") {
    CHECK_FALSE(std::get<0>(outcome_of_operation<>([&](auto token) { holder.async_release(std::move(token)); })));
  }
  const Lease taken = std::get<1>(sibling.get());
  CHECK(std::get<1>(stranger.get()).is_held());
  CHECK(taken.state() == LeaseState::lost);
}

TEST_CASE_METHOD(Fixture,
                 "a lock that an operator has deleted with its directory is not handed on beside its new holder",
                 "[faults]") {
  Lease holder = acquire(mutex);
  const Transaction everything = Transaction{}.remove(holder.node_path()).remove(path);
  CHECK_FALSE(std::get<0>(outcome_of_operation<TransactionResults>(
      [&](auto token) { session.async_commit(everything, std::move(token)); })));
  const Client other = make_client(server, 9s);
  const InterProcessMutex theirs{other, path};
  const Lease stranger = acquire(theirs);
  Pending<Lease> sibling;  // its number is the one after the holder's
  mutex.async_acquire(sibling.handler());
  REQUIRE(eventually([&] { return queue_length() == 2; }));
  holder = Lease{};
  const Lease taken = std::get<1>(sibling.get());
  CHECK(eventually([&] { return taken.state() == LeaseState::lost; }));
  CHECK(stranger.is_held());
}

namespace {

/// A lock that an operator has deleted with its directory, and that a stranger has in the new one: the numbers there
/// begin again, so that they go on where those of the old holder's client end.
struct Replaced : Fixture {
  FrameProxy proxy{server.port()};
  Client other{{.connect_string = proxy.address(), .session_timeout = 9s}};
  InterProcessMutex theirs{other, path};
  Lease holder = acquire(theirs);
  Lease stranger;

  void replace() {
    const Transaction everything = Transaction{}.remove(holder.node_path()).remove(path);
    REQUIRE_FALSE(std::get<0>(outcome_of_operation<TransactionResults>(
        [&](auto token) { session.async_commit(everything, std::move(token)); })));
    stranger = acquire(mutex);
  }
  /// What was handed on has gone to the stranger if the directory was replaced, and is held if it was not.
  void check(const Lease& taken, bool replaced) const {
    if (replaced) {
      CHECK(eventually([&] { return taken.state() == LeaseState::lost; }));
      CHECK(stranger.is_held());
    } else {
      REQUIRE_FALSE(sync(other.session()));
      CHECK(taken.is_held());
    }
  }
};

}  // namespace

TEST_CASE_METHOD(Replaced,
                 "a lock that an operator has deleted with its directory is not handed on to who was just being made",
                 "[faults]") {
  const bool replaced = GENERATE(true, false);
  if (replaced) replace();
  proxy.hold(Direction::replies);
  Pending<Lease> sibling;
  theirs.async_acquire(sibling.handler());
  REQUIRE(eventually([&] { return queue_length() == 2; }));
  const bool awaited = GENERATE(true, false);
  Pending<> released;
  if (awaited)
    holder.async_release(released.handler());
  else
    holder = Lease{};
  REQUIRE(eventually([&] { return proxy.requests(Opcode::remove) == 1; }));
  proxy.resume(Direction::replies);
  const Lease taken = std::get<1>(sibling.get());
  if (awaited) CHECK(std::get<0>(released.get()) == (replaced ? make_error_code(Error::lock_lost) : error_code{}));
  check(taken, replaced);
}

TEST_CASE_METHOD(Replaced,
                 "a lock that an operator has deleted with its directory is not handed on by who was misled itself",
                 "[faults]") {
  const bool replaced = GENERATE(true, false);
  if (replaced) replace();
  Pending<Lease> first;
  theirs.async_acquire(first.handler());
  REQUIRE(eventually([&] { return queue_length() == 2; }));
  Pending<Lease> second;
  const bool is_late = GENERATE(false, true);
  if (!is_late) {
    theirs.async_acquire(second.handler());
    REQUIRE(eventually([&] { return queue_length() == 3; }));
  }
  REQUIRE_FALSE(sync(other.session()));  // it knows of its nodes
  proxy.hold(Direction::replies);
  if (is_late) {
    theirs.async_acquire(second.handler());
    REQUIRE(eventually([&] { return queue_length() == 3; }));
  }
  holder = Lease{};
  std::get<1>(first.get()) = Lease{};  // before anybody knows what has become of the holder's node
  if (is_late) REQUIRE(eventually([&] { return proxy.requests(Opcode::remove) + proxy.requests(Opcode::multi) == 2; }));
  const auto watches = server.monitor("zk_watch_count");
  proxy.resume(Direction::replies);
  // It has the lock for a moment, or the news came first and it waits for the stranger.
  if (replaced && is_late) {
    REQUIRE(eventually([&] { return second.ready() || server.monitor("zk_watch_count") > watches; }));
    if (!second.ready()) {
      CHECK(stranger.is_held());
      stranger = Lease{};
      CHECK(std::get<1>(second.get()).is_held());
      return;
    }
  }
  const Lease taken = std::get<1>(second.get());
  check(taken, replaced);
}

TEST_CASE_METHOD(Fixture, "a holder that hears that its node is gone does not keep its siblings waiting", "[faults]") {
  Lease holder = acquire(mutex);
  Pending<> lost;
  holder.async_wait_lost(lost.handler());
  Pending<Lease> sibling;
  mutex.async_acquire(sibling.handler());
  REQUIRE(eventually([&] { return queue_length() == 2; }));
  const Client operating = make_client(server, 9s);
  REQUIRE_FALSE(std::get<0>(outcome_of_operation<>(
      [&](auto token) { connected_session(operating).async_remove(holder.node_path(), std::move(token)); })));
  CHECK(std::get<1>(sibling.get()).is_held());
  CHECK_FALSE(std::get<0>(lost.get()));
}

TEST_CASE("a holder killed by SIGKILL is succeeded within the session timeout and a tick", "[faults]") {
  testing::TestServer server;
  int told[2];
  REQUIRE(::pipe(told) == 0);
  const pid_t child = ::fork();  // before this process has a thread of zklock's
  if (child == 0) {
    try {
      const Client client = make_client(server, brief);
      InterProcessMutex mutex{client, "/lock"};
      mutex.lock();
      if (::write(told[1], "x", 1) == 1) ::pause();
    } catch (...) {
    }
    ::_exit(1);
  }
  ::close(told[1]);
  char byte = 0;
  REQUIRE(::read(told[0], &byte, 1) == 1);
  const Client client = make_client(server, brief);
  const InterProcessMutex mutex{client, "/lock"};
  Pending<Lease> waiter;
  mutex.async_acquire(waiter.handler());
  REQUIRE(eventually([&] { return server.monitor("zk_watch_count") == 1; }));
  const auto start = std::chrono::steady_clock::now();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const auto [error, lease] = waiter.get();
  CHECK_FALSE(error);
  CHECK(std::chrono::steady_clock::now() - start <= brief + 500ms + slack);  // the timeout, a tick, and the hand-over
  ::close(told[0]);
}

TEST_CASE_METHOD(Fixture, "nesting while the link is down does not keep it down", "[faults]") {
  const Client other = make_client(server, 9s);
  InterProcessMutex theirs{other, path};
  theirs.lock();
  server.kill();
  REQUIRE(eventually([&] { return other.state() == ConnectionState::suspended; }));
  theirs.lock();
  server.start();
  REQUIRE(eventually([&] { return theirs.is_owned_by_current_thread(); }));
  const auto count = [&] {
    const auto line = outcome_of_operation<std::vector<Participant>>(
        [&](auto token) { theirs.async_participants(std::move(token)); });
    return std::get<1>(line).at(0).count;
  };
  CHECK(eventually([&] { return count() == 2; }));
  theirs.unlock();
  CHECK(eventually([&] { return count() == 1; }));
  theirs.unlock();
}
