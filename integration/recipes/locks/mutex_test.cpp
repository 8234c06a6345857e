// InterProcessMutex against a healthy server.
#include "support/catch.hpp"
#include "support/lock_fixture.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <mutex>
#include <regex>
#include <thread>

using namespace zklock;
using namespace zklock::test;

namespace {

struct Fixture : LockFixture {
  InterProcessMutex mutex{client, path};

  std::vector<LockParticipant> participants() const {
    return std::get<1>(outcome_of_operation<std::vector<LockParticipant>>(
        [&](auto token) { mutex.async_participants(std::move(token)); }));
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a lease holds the lock, and its node is Curator's") {
  const Lease lease = acquire(mutex);
  CHECK(lease.is_held());
  CHECK(lease.count() == 1);
  CHECK(std::regex_match(lease.node_path(),
                         std::regex{path + "/_c_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-lock-[0-9]{10}"}));
  const auto [error, node] = outcome_of_operation<DataResult>(
      [&](auto token) { session.async_get_data(lease.node_path(), std::move(token)); });
  REQUIRE_FALSE(error);
  CHECK(node.data == client.client_id() + ":1");
  CHECK(node.stat.ephemeral_owner == session.id());
  CHECK(node.stat.czxid == lease.fencing_token());
}

TEST_CASE_METHOD(Fixture, "the end of a lease frees the lock, and tokens grow") {
  std::int64_t last = 0;
  for (int i = 0; i < 20; ++i) {
    Lease lease = acquire(mutex);
    CHECK(lease.fencing_token() > last);
    last = lease.fencing_token();
    if (i % 2) {
      CHECK_FALSE(std::get<0>(outcome_of_operation<>([&](auto token) { lease.async_release(std::move(token)); })));
      CHECK(lease.state() == LeaseState::released);
      CHECK(std::get<0>(outcome_of_operation<>([&](auto token) { lease.async_release(std::move(token)); })) ==
            LockError::not_owner);
    }
  }
  CHECK(leaves_no_trace(server, session, path));
}

TEST_CASE_METHOD(Fixture, "the lock's directory is made of containers, which the server removes when they are empty") {
  const InterProcessMutex deep{client, path + "/a/b"};
  { const Lease lease = acquire(deep); }
  CHECK(eventually([&] {
    return !std::get<1>(
        outcome_of_operation<std::optional<Stat>>([&](auto token) { session.async_exists(path, std::move(token)); }));
  }));
}

TEST_CASE_METHOD(Fixture, "an uncontended lock and unlock that a client repeats are two requests") {
  {
    const Lease warm = acquire(mutex);
    REQUIRE_FALSE(std::get<0>(outcome_of_operation<CreateResult>([&](auto token) {
      session.async_create(path + "/keep", "", CreateMode::ephemeral, std::move(token));  // keeps the directory
    })));
  }
  REQUIRE(eventually([&] { return children_of(session, path).size() == 1; }));
  const InterProcessMutex kept{client, path};
  for (int i = 0; i < 3; ++i) CHECK(acquire(kept).is_held());  // by now their numbers tell their places
  constexpr int rounds = 100;
  const auto before = server.monitor("zk_packets_received");
  for (int i = 0; i < rounds; ++i) {
    Lease lease = acquire(kept);
    REQUIRE_FALSE(std::get<0>(outcome_of_operation<>([&](auto token) { lease.async_release(std::move(token)); })));
  }
  const auto requests = server.monitor("zk_packets_received") - before;
  CHECK(requests >= 2 * rounds);
  CHECK(requests <= 2 * rounds + 4);  // and a ping, and the read of the counter
}

TEST_CASE_METHOD(Fixture, "the wait queue can be listed") {
  Lease first = acquire(mutex);
  Pending<Lease> second;
  mutex.async_acquire(second.handler());
  REQUIRE(eventually([&] { return children_of(session, path).size() == 2; }));
  const auto line = participants();
  REQUIRE(line.size() == 2);
  CHECK(line[0].node_path == first.node_path());
  CHECK(line[0].client_id == client.client_id());
  CHECK(line[0].count == 1);
  CHECK(line[0].session_id == session.id());
  CHECK(line[0].fencing_token == first.fencing_token());
  CHECK(line[0].sequence < line[1].sequence);
  CHECK(std::chrono::abs(std::chrono::system_clock::now() - line[0].since) < 1min);
  first = Lease{};
  CHECK_FALSE(std::get<0>(second.get()));
}

TEST_CASE_METHOD(Fixture, "a thread owns the lock, and may enter it again") {
  {
    std::unique_lock guard{mutex};
    CHECK(mutex.is_owned_by_current_thread());
    CHECK(mutex.is_acquired_in_this_process());
    CHECK(mutex.fencing_token() > 0);
    mutex.acquire();
    CHECK(mutex.try_lock());
    CHECK(eventually([&] { return participants().at(0).count == 3; }));
    std::thread{[&] {
      CHECK_FALSE(mutex.try_lock());
      CHECK_FALSE(mutex.acquire(20ms));
      CHECK_FALSE(mutex.is_owned_by_current_thread());
      CHECK_THROWS_AS(mutex.release(), boost::system::system_error);
    }}.join();
    mutex.release();
    mutex.unlock();
    CHECK(mutex.is_owned_by_current_thread());
    CHECK(eventually([&] { return participants().at(0).count == 1; }));
  }
  CHECK_FALSE(mutex.is_acquired_in_this_process());
  CHECK_THROWS_AS(mutex.unlock(), boost::system::system_error);
  std::thread{[&] {
    std::unique_lock guard{mutex, 5s};
    CHECK(guard.owns_lock());
  }}.join();
  CHECK(leaves_no_trace(server, session, path));
}

TEST_CASE_METHOD(Fixture, "std::scoped_lock acquires two mutexes without deadlock") {
  InterProcessMutex other{client, path + "-other"};
  const auto take = [&](InterProcessMutex& a, InterProcessMutex& b) {
    for (int i = 0; i < 15; ++i) const std::scoped_lock both{a, b};
  };
  std::thread thread{[&] { take(other, mutex); }};
  take(mutex, other);
  thread.join();
  CHECK(leaves_no_trace(server, session, path));
}

TEST_CASE_METHOD(Fixture, "blocking on the client's own thread is refused") {
  Pending<> refused;
  session.async_sync("/",
                     asio::bind_executor(client.get_executor(), [&, handler = refused.handler()](error_code) mutable {
                       error_code seen;
                       try {
                         mutex.lock();
                       } catch (const boost::system::system_error& error) {
                         seen = error.code();
                       }
                       handler(seen);
                     }));
  CHECK(std::get<0>(refused.get()) == Error::blocking_in_handler);
}

TEST_CASE(
    "a holder that runs its client's executor enters its lock again there, and leaves it, but for the last time") {
  asio::io_context context;
  const auto work = asio::make_work_guard(context);
  Client own{context.get_executor(), {.connect_string = shared_server().connect_string()}};
  InterProcessMutex mutex{own, fresh_path()};
  {
    std::jthread runner{[&] { context.run(); }};
    mutex.acquire();
    context.stop();
  }
  context.restart();
  error_code last;
  asio::post(context, [&] {
    mutex.acquire();
    mutex.release();
    try {
      mutex.release();
    } catch (const boost::system::system_error& refused) {
      last = refused.code();
    }
    context.stop();
  });
  context.run();
  CHECK(last == Error::blocking_in_handler);
  CHECK(mutex.is_owned_by_current_thread());
  context.restart();
  std::jthread runner{[&] { context.run(); }};
  mutex.release();
  CHECK_FALSE(mutex.is_owned_by_current_thread());
  context.stop();
}

TEST_CASE("bad lock paths and configurations are refused when they are given") {
  const Client client = make_client(shared_server());
  for (const std::string bad : {"", "a", "/", "/zookeeper", "/zookeeper/x", "/a//b", "/a/"}) {
    INFO(bad);
    CHECK_THROWS_AS(InterProcessMutex(client, bad), boost::system::system_error);
  }
  CHECK_THROWS_AS(InterProcessMutex(client, "/" + std::string(1001, 'x')), boost::system::system_error);
  for (const char* bad : {"", "/chroot", "host:0", "host:70000", "a,,b", "host:2181/x/", "a b:1"}) {
    INFO(bad);
    CHECK_THROWS_AS(Client(ClientConfig{.connect_string = bad}), boost::system::system_error);
  }
  const std::string good = "127.0.0.1:1";
  CHECK_THROWS_AS(Client(ClientConfig{.connect_string = good, .session_timeout = 0ms}), boost::system::system_error);
  CHECK_THROWS_AS(Client(ClientConfig{.connect_string = good, .session_timeout = 25h}), boost::system::system_error);
  CHECK_THROWS_AS(Client(ClientConfig{.connect_string = good, .connection_timeout = -1ms}),
                  boost::system::system_error);
  CHECK_THROWS_AS(Client(ClientConfig{.connect_string = good, .retry = ExponentialBackoffRetry{.base = 0ms}}),
                  boost::system::system_error);
  CHECK_THROWS_AS(Client(ClientConfig{.connect_string = good, .client_id = "a:b"}), boost::system::system_error);
}

TEST_CASE("a client on a given executor works, and starts no thread of its own") {
  asio::io_context context;
  Client client{context.get_executor(),
                {.connect_string = shared_server().connect_string(), .session_timeout = session_timeout}};
  const InterProcessMutex mutex{client, fresh_path()};
  bool held = false;
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        Lease lease = co_await mutex.async_acquire(10s);
        held = lease.is_held();
        co_await lease.async_release();
        co_await client.async_close();
      },
      asio::detached);
  context.run();
  CHECK(held);
  CHECK(client.state() == ConnectionState::closed);
}
