// InterProcessMutex while servers and processes are killed, and links are lost.
#include "support/catch.hpp"
#include "support/frame_proxy.hpp"
#include "support/lock_fixture.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

using namespace zklock;
using namespace zklock::test;

namespace {

constexpr std::chrono::milliseconds brief{2'000};

struct Fixture : OwnServer, LockFixture {
  Fixture() : OwnServer{testing::TestServer{{.tick = long_tick}}}, LockFixture{own_server} {}
  InterProcessMutex mutex{client, path};

  [[nodiscard]] std::size_t queue_length() const { return children_of(client.session(), path).size(); }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "waiters keep their queue positions while the server is killed and restarted", "[faults]") {
  const Client other = make_client(server, long_session_timeout);
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
  const Client other = make_client(server, long_session_timeout);
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
  const Client other{{.connect_string = proxy.address(), .session_timeout = session_timeout}};
  const InterProcessMutex theirs{other, path};
  const Session their_session = connected_session(other);
  const Lease ahead = acquire(mutex);  // keeps the directory, and makes the attempt wait
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
    CHECK(std::get<0>(pending.get()) == asio::error::operation_aborted);
    proxy.cut();
  }
  CHECK(eventually([&] { return queue_length() == 1 && server.monitor("zk_watch_count") == 0; }));
  CHECK(other.session() == their_session);
  CHECK(their_session.state() == SessionState::connected);
}

TEST_CASE_METHOD(Fixture, "a create that never reached the server is made once", "[faults]") {
  const Client other = make_client(server);
  const InterProcessMutex theirs{other, path};
  const Session their_session = connected_session(other);
  Pending<Lease> pending;
  server.pause();  // requests sent now wait in the server's socket, and are lost with it
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
  const Client other{{.connect_string = proxy.address(), .session_timeout = session_timeout}};
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

TEST_CASE_METHOD(Fixture, "a holder that cannot reach the server is suspect, and told of its loss", "[faults]") {
  const Client other = make_client(server, 2 * long_tick);
  Lease lease = acquire(InterProcessMutex{other, path});
  Pending<> lost;
  lease.async_wait_lost(lost.handler());
  server.pause();  // so it cannot tell the client
  REQUIRE(eventually([&] { return lease.state() != LeaseState::held; }));
  CHECK_FALSE(std::get<0>(lost.get()));
  CHECK(lease.state() == LeaseState::lost);
  server.resume();
}

TEST_CASE_METHOD(Fixture, "a deadline holds while the server is away, and leaves no trace when it is back",
                 "[faults]") {
  { const Lease warm = acquire(mutex); }
  const Client other = make_client(server);
  const InterProcessMutex theirs{other, path};
  static_cast<void>(connected_session(other));
  server.pause();
  const auto [error, lease] =
      outcome_of_operation<Lease>([&](auto token) { theirs.async_acquire(300ms, std::move(token)); });
  CHECK(error == Error::timed_out);
  server.resume();
  REQUIRE(client.wait_connected(20s));
  CHECK(leaves_no_trace(server, client.session(), path));
}

TEST_CASE("a holder killed by SIGKILL has a successor within the session timeout and a tick", "[timing]") {
  testing::TestServer server;
  int told[2];
  REQUIRE(::pipe(told) == 0);
  const pid_t child = ::fork();  // before this process has a thread of zklock
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
  const Client client = make_client(server);
  const InterProcessMutex mutex{client, "/lock"};
  Pending<Lease> waiter;
  mutex.async_acquire(waiter.handler());
  REQUIRE(eventually([&] { return server.monitor("zk_watch_count") == 1; }));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK(eventually([&] { return waiter.ready(); }, brief + 500ms + 1s));  // the timeout, a tick, and the handoff
  CHECK_FALSE(std::get<0>(waiter.get()));
  ::close(told[0]);
}

TEST_CASE_METHOD(Fixture, "re-entry while the link is down does not keep the link down", "[faults]") {
  const Client other = make_client(server, long_session_timeout);
  InterProcessMutex theirs{other, path};
  theirs.lock();
  server.kill();
  REQUIRE(eventually([&] { return other.state() == ConnectionState::suspended; }));
  theirs.lock();
  server.start();
  REQUIRE(eventually([&] { return theirs.is_owned_by_current_thread(); }));
  const auto count = [&] {
    const auto line = outcome_of_operation<std::vector<LockParticipant>>(
        [&](auto token) { theirs.async_participants(std::move(token)); });
    return std::get<1>(line).at(0).count;
  };
  CHECK(eventually([&] { return count() == 2; }));
  theirs.unlock();
  CHECK(eventually([&] { return count() == 1; }));
  theirs.unlock();
}
