// DistributedBarrier against a real server.
#include "support/catch.hpp"
#include "support/frame_proxy.hpp"
#include "support/lock_fixture.hpp"
#include "support/operations.hpp"

#include <zklock/recipes/barriers/distributed_barrier.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>

#include <thread>
#include <vector>

using namespace zklock;
using namespace zklock::test;

namespace {

struct Fixture : LockFixture {
  Client other = make_client(server);
  const DistributedBarrier barrier{client, path};
  const DistributedBarrier same{other, path};

  [[nodiscard]] bool is_watched() const { return server.monitor("zk_watch_count") > 0; }
  error_code wait_for(std::chrono::milliseconds wait) {
    return std::get<0>(outcome_of_operation<>([&](auto token) { same.async_wait(wait, std::move(token)); }));
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "an open barrier lets a waiter pass at once, and leaves no watch") {
  same.wait();
  CHECK(same.wait(0ms));
  CHECK_FALSE(is_watched());
}

TEST_CASE_METHOD(Fixture, "a closed barrier holds all waiters until it is removed, and opens for all of them") {
  barrier.set();
  CHECK(wait_for(0ms) == Error::timed_out);
  CHECK(wait_for(200ms) == Error::timed_out);
  CHECK_FALSE(same.wait(100ms));
  CHECK(eventually([&] { return !is_watched(); }));
  std::vector<Pending<>> waiters(20);
  for (auto& each : waiters) same.async_wait(each.handler());
  REQUIRE(eventually([&] { return is_watched(); }));
  CHECK_FALSE(waiters.front().ready(200ms));
  barrier.remove();
  for (auto& each : waiters) CHECK_FALSE(std::get<0>(each.get()));
  CHECK_FALSE(exists(session, path));
  CHECK_FALSE(is_watched());
}

TEST_CASE_METHOD(Fixture, "a barrier may be set twice and removed twice") {
  barrier.set();
  same.set();
  CHECK(exists(session, path));
  barrier.remove();
  same.remove();
  CHECK_FALSE(exists(session, path));
}

TEST_CASE_METHOD(Fixture,
                 "a barrier is a persistent node below containers, and children of it hold up its removal only") {
  const DistributedBarrier deep{client, path + "/a/b"};
  deep.set();
  CHECK(std::get<1>(outcome_of_operation<std::optional<Stat>>([&](auto token) {
          session.async_exists(path + "/a/b", std::move(token));
        }))->ephemeral_owner == 0);
  REQUIRE_FALSE(create(client, path + "/a/b/child", "", CreateMode::persistent));
  CHECK_THROWS_AS(deep.remove(), boost::system::system_error);
  CHECK(exists(session, path + "/a/b"));
}

TEST_CASE_METHOD(Fixture, "a wait goes on when a child of the barrier comes and goes") {
  barrier.set();
  Pending<> waiting;
  same.async_wait(waiting.handler());
  REQUIRE(eventually([&] { return is_watched(); }));
  REQUIRE_FALSE(create(client, path + "/child", "", CreateMode::persistent));
  CHECK_FALSE(waiting.ready(200ms));
  session.async_remove(path + "/child", -1, [](error_code) {});
  CHECK_FALSE(waiting.ready(200ms));
  barrier.remove();
  CHECK_FALSE(std::get<0>(waiting.get()));
}

TEST_CASE_METHOD(Fixture, "a barrier that is removed and set again at once has let through all that waited") {
  barrier.set();
  std::vector<Client> clients;  // a session has one watch, however many wait by it
  std::vector<Pending<>> waiters(5);
  for (auto& each : waiters) {
    clients.push_back(make_client(server));
    DistributedBarrier{clients.back(), path}.async_wait(each.handler());
  }
  REQUIRE(eventually([&] { return server.monitor("zk_watch_count") == 5; }));
  barrier.remove();
  barrier.set();
  for (auto& each : waiters) CHECK_FALSE(std::get<0>(each.get()));
  CHECK(wait_for(100ms) == Error::timed_out);
  barrier.remove();
}

TEST_CASE_METHOD(Fixture, "a wait that is cancelled leaves no watch") {
  barrier.set();
  asio::cancellation_signal signal;
  Pending<> waiting;
  same.async_wait(asio::bind_cancellation_slot(signal.slot(), waiting.handler()));
  REQUIRE(eventually([&] { return is_watched(); }));
  signal.emit(asio::cancellation_type::total);
  CHECK(std::get<0>(waiting.get()) == asio::error::operation_aborted);
  CHECK(eventually([&] { return !is_watched(); }));
  barrier.remove();
}

TEST_CASE_METHOD(Fixture, "an ephemeral barrier opens when the session ends that has set it") {
  {
    Client setter = make_client(server);
    DistributedBarrier{setter, path}.set(CreateMode::ephemeral);
    CHECK(wait_for(0ms) == Error::timed_out);
  }
  CHECK_FALSE(wait_for(10s));
}

TEST_CASE_METHOD(Fixture, "a wait at a barrier survives its session", "[faults]") {
  barrier.set();
  Pending<> waiting;
  same.async_wait(waiting.handler());
  REQUIRE(eventually([&] { return is_watched(); }));
  const SessionCredentials before = other.session().credentials();
  server.end_session(before.id, {before.password.data(), before.password.size()});
  REQUIRE(eventually([&] { return other.session().id() != before.id && is_watched(); }));
  CHECK_FALSE(waiting.ready(200ms));
  barrier.remove();
  CHECK_FALSE(std::get<0>(waiting.get()));
}

TEST_CASE("a wait at a barrier survives its server, and ends with the removal", "[faults]") {
  testing::TestServer server;
  const std::string path = "/barriers/start";
  Client client = make_client(server);
  Client other = make_client(server);
  const DistributedBarrier barrier{client, path};
  barrier.set();
  Pending<> waiting;
  DistributedBarrier{other, path}.async_wait(waiting.handler());
  REQUIRE(eventually([&] { return server.monitor("zk_watch_count") > 0; }));
  server.kill();
  server.start();
  barrier.remove();
  CHECK_FALSE(std::get<0>(waiting.get()));
}

TEST_CASE("a barrier that is removed and set again behind a lost link lets its waiter pass", "[faults]") {
  testing::TestServer server;
  FrameProxy proxy{server.port()};
  const std::string path = "/barriers/start";
  Client client = make_client(server);
  Client away{{.connect_string = proxy.address(), .session_timeout = session_timeout, .retry = RetryNTimes{50, 50ms}}};
  const DistributedBarrier barrier{client, path};
  barrier.set();
  Pending<> waiting;
  DistributedBarrier{away, path}.async_wait(waiting.handler());
  REQUIRE(eventually([&] { return server.monitor("zk_watch_count") > 0; }));
  REQUIRE_FALSE(sync(connected_session(away)));  // the waiter's reply, ahead of this one, has come
  const SessionCredentials lost = away.session().credentials();
  proxy.refuse();
  proxy.cut();
  server.end_session(lost.id, {lost.password.data(), lost.password.size()});  // the watch goes with it
  barrier.remove();
  barrier.set();
  proxy.accept_again();
  CHECK_FALSE(std::get<0>(waiting.get()));
  CHECK(exists(connected_session(client), path));
  barrier.remove();
}

TEST_CASE_METHOD(Fixture, "a barrier is a persistent or an ephemeral node, and an object moved from has none") {
  for (const CreateMode mode : {CreateMode::persistent_sequential, CreateMode::ephemeral_sequential,
                                CreateMode::container, CreateMode::persistent_ttl}) {
    const auto [error] = outcome_of_operation<>([&](auto token) { barrier.async_set(mode, std::move(token)); });
    CHECK(error == Error::invalid_create_mode);
  }
  CHECK(same.wait(0ms));
  DistributedBarrier from{client, path};
  const DistributedBarrier to = std::move(from);
  CHECK_THROWS_AS(from.set(), boost::system::system_error);
  CHECK_THROWS_AS(from.path(), boost::system::system_error);
  CHECK(to.path() == path);
}

TEST_CASE_METHOD(Fixture, "a barrier refuses a bad path, and to block where it would wait for itself") {
  for (const char* bad : {"start", "/", "/a//b"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(DistributedBarrier(client, bad), boost::system::system_error);
  }
  Pending<> refused;
  asio::post(client.get_executor(), [&, handler = refused.handler()]() mutable {
    try {
      barrier.wait();
      handler(error_code{});
    } catch (const boost::system::system_error& error) {
      handler(error.code());
    }
  });
  CHECK(std::get<0>(refused.get()) == Error::blocking_in_handler);
}
