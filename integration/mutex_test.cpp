// InterProcessMutex against a healthy server.
#include "support/catch.hpp"
#include "support/fixture.hpp"

#include <zklock/client_id.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <future>
#include <mutex>
#include <regex>
#include <thread>

using namespace zklock;
using namespace zklock::test;

namespace {

struct Fixture {
  testing::TestServer& server = shared_server();
  Client client = make_client(server);
  Session session = connected_session(client);
  std::string path = fresh_path();
  InterProcessMutex mutex{client, path};

  std::vector<Participant> participants() const {
    return std::get<1>(outcome_of_operation<std::vector<Participant>>(
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
            Error::not_owner);
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

TEST_CASE_METHOD(Fixture, "an uncontended lock and unlock are three requests in two flights") {
  {
    const Lease warm = acquire(mutex);
    REQUIRE_FALSE(std::get<0>(outcome_of_operation<CreateResult>([&](auto token) {
      session.async_create(path + "/keep", "", CreateMode::ephemeral, std::move(token));  // or the server reaps it
    })));
  }
  REQUIRE(eventually([&] { return children_of(session, path).size() == 1; }));
  const InterProcessMutex kept{client, path};
  constexpr int rounds = 100;
  const auto before = server.monitor("zk_packets_received");
  for (int i = 0; i < rounds; ++i) {
    Lease lease = acquire(kept);
    REQUIRE_FALSE(std::get<0>(outcome_of_operation<>([&](auto token) { lease.async_release(std::move(token)); })));
  }
  const auto requests = server.monitor("zk_packets_received") - before;
  CHECK(requests >= 3 * rounds);
  CHECK(requests <= 3 * rounds + 4);  // and a ping, and the look at the counter
}

TEST_CASE_METHOD(Fixture, "a waiter is granted when the holder leaves, and not before") {
  Lease first = acquire(mutex);
  Pending<Lease> second;
  mutex.async_acquire(second.handler());
  REQUIRE(eventually([&] { return children_of(session, path).size() == 2; }));
  CHECK_FALSE(second.ready(100ms));
  first = Lease{};
  const auto [error, lease] = second.get();
  CHECK_FALSE(error);
  CHECK(lease.is_held());
}

TEST_CASE_METHOD(Fixture, "each waiter watches only its predecessor, and one release wakes one waiter") {
  constexpr int waiters = 20;
  const Client other = make_client(server);
  const InterProcessMutex theirs{other, path};
  Lease holder = acquire(mutex);
  std::vector<Pending<Lease>> pending(waiters);
  for (std::size_t i = 0; i < pending.size(); ++i) {
    (i % 2 == 0 ? theirs : mutex).async_acquire(pending[i].handler());  // each behind a stranger
    REQUIRE(eventually([&] { return children_of(session, path).size() == i + 2; }));
  }
  REQUIRE(eventually([&] { return server.monitor("zk_watch_count") == waiters; }));
  std::int64_t last = holder.fencing_token();
  for (int i = 0; i < waiters; ++i) {
    const auto sent = server.monitor("zk_packets_sent");
    holder = Lease{};
    auto [error, lease] = pending[static_cast<std::size_t>(i)].get();
    REQUIRE_FALSE(error);
    CHECK(lease.fencing_token() > last);
    last = lease.fencing_token();
    holder = std::move(lease);
    // delete's reply, one event, and the reply to a look at the node; the rest is our own look at the counters, a
    // renewal, and pings
    CHECK(server.monitor("zk_packets_sent") - sent <= 3 + 4);
    CHECK(server.monitor("zk_watch_count") == waiters - i - 1);
    for (std::size_t j = static_cast<std::size_t>(i) + 1; j < pending.size(); ++j) CHECK_FALSE(pending[j].ready());
  }
  holder = Lease{};
  CHECK(leaves_no_trace(server, session, path));
}

TEST_CASE_METHOD(Fixture, "waiters of one client watch nobody, and hand the lock over without waiting for the server") {
  constexpr int waiters = 100;
  Lease holder = acquire(mutex);
  std::vector<Pending<Lease>> pending(waiters);
  for (auto& waiter : pending) mutex.async_acquire(waiter.handler());
  REQUIRE(eventually([&] { return children_of(session, path).size() == waiters + 1; }));
  CHECK(server.monitor("zk_watch_count") == 0);
  std::int64_t last = holder.fencing_token();
  const auto received = server.monitor("zk_packets_received");
  for (auto& waiter : pending) {
    holder = Lease{};
    auto [error, lease] = waiter.get();
    REQUIRE_FALSE(error);
    CHECK(lease.fencing_token() > last);
    last = lease.fencing_token();
    holder = std::move(lease);
  }
  // For each, its delete and a look at the node of the next.
  CHECK(server.monitor("zk_packets_received") - received <= 2 * waiters + 10);
  holder = Lease{};
  CHECK(leaves_no_trace(server, session, path));
}

TEST_CASE_METHOD(Fixture, "a wait that times out, and a try that fails, leave no trace") {
  const Lease holder = acquire(mutex);
  for (const auto wait : {-1ms, 0ms, 1ms, 30ms}) {
    const auto start = std::chrono::steady_clock::now();
    const auto [error, lease] =
        outcome_of_operation<Lease>([&](auto token) { mutex.async_acquire(wait, std::move(token)); });
    CHECK(error == Error::timed_out);
    CHECK_FALSE(lease);
    CHECK(std::chrono::steady_clock::now() - start >= wait);
    CHECK(std::chrono::steady_clock::now() - start < wait + 1s + slack);
  }
  CHECK(eventually([&] { return children_of(session, path).size() == 1 && server.monitor("zk_watch_count") == 0; }));
}

TEST_CASE_METHOD(Fixture, "cancelling at any moment completes once, and leaves no trace") {
  const Lease holder = acquire(mutex);
  for (int round = 0; round < 120; ++round) {
    asio::cancellation_signal cancel;
    Pending<Lease> pending;
    mutex.async_acquire(asio::bind_cancellation_slot(cancel.slot(), pending.handler()));
    // Let the attempt come as far as `round` says: requests of ours are answered in the order of its own.
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
  CHECK(eventually([&] { return children_of(session, path).size() == 1 && server.monitor("zk_watch_count") == 0; }));
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
  CHECK(eventually([&] { return children_of(session, path).size() == 1 && server.monitor("zk_watch_count") == 0; }));
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
        Error::lock_lost);
  CHECK(acquire(mutex).is_held());
}

TEST_CASE_METHOD(Fixture, "foreign children are none of the queue's business") {
  outcome_of_operation<CreateResult>(
      [&](auto token) { session.async_create("/test", "", CreateMode::persistent, std::move(token)); });
  outcome_of_operation<CreateResult>(
      [&](auto token) { session.async_create(path, "", CreateMode::persistent, std::move(token)); });
  for (const char* name : {"0000000000", "lock-", "lock-123", "lock-00000000001", "_c_x-lock-abcdefghij", "\xc3\xa9",
                           "-lock-0000000000x"}) {
    const auto [error, node] = outcome_of_operation<CreateResult>(
        [&](auto token) { session.async_create(path + "/" + name, "", CreateMode::persistent, std::move(token)); });
    REQUIRE_FALSE(error);
  }
  CHECK(acquire(mutex).is_held());
}

TEST_CASE_METHOD(Fixture, "a contender of another make is respected") {
  outcome_of_operation<CreateResult>(
      [&](auto token) { session.async_create("/test", "", CreateMode::persistent, std::move(token)); });
  outcome_of_operation<CreateResult>(
      [&](auto token) { session.async_create(path, "", CreateMode::persistent, std::move(token)); });
  const auto made = outcome_of_operation<CreateResult>([&](auto token) {
    session.async_create(path + "/_c_00000000-0000-4000-8000-000000000000-lock-", "10.0.0.1",
                         CreateMode::ephemeral_sequential, std::move(token));
  });
  REQUIRE_FALSE(std::get<0>(made));
  const std::string foreign = std::get<1>(made).path;
  Pending<Lease> waiter;
  mutex.async_acquire(waiter.handler());
  REQUIRE(eventually([&] { return server.monitor("zk_watch_count") == 1; }));
  const auto received = server.monitor("zk_packets_received");
  for (int i = 0; i < 50; ++i)  // a rewritten node wakes nobody
    outcome_of_operation<Stat>(
        [&](auto token) { session.async_set_data(foreign, std::to_string(i), std::move(token)); });
  CHECK(server.monitor("zk_packets_received") - received <= 50 + 3);  // ours, our look at the counter, and pings
  CHECK(server.monitor("zk_watch_count") == 1);
  CHECK_FALSE(waiter.ready());
  outcome_of_operation<>([&](auto token) { session.async_remove(foreign, std::move(token)); });
  CHECK_FALSE(std::get<0>(waiter.get()));
}

TEST_CASE_METHOD(Fixture, "the line can be read") {
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

TEST_CASE_METHOD(Fixture, "threads own the lock, and may nest") {
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

TEST_CASE_METHOD(Fixture, "std::scoped_lock takes two without deadlock") {
  InterProcessMutex other{client, path + "-other"};
  const auto take = [&](InterProcessMutex& a, InterProcessMutex& b) {
    for (int i = 0; i < 15; ++i) const std::scoped_lock both{a, b};
  };
  std::thread thread{[&] { take(other, mutex); }};
  take(mutex, other);
  thread.join();
  CHECK(leaves_no_trace(server, session, path));
}

TEST_CASE_METHOD(Fixture, "blocking on the client's own thread is refused, not suffered") {
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
  CHECK(std::get<0>(refused.get()) == Error::would_deadlock);
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

TEST_CASE_METHOD(Fixture, "whoever waits for the loss of a lease is released with it") {
  Lease lease = acquire(mutex);
  Pending<> lost;
  lease.async_wait_lost(lost.handler());
  CHECK_FALSE(lost.ready(50ms));
  SECTION("awaited") {
    CHECK_FALSE(std::get<0>(outcome_of_operation<>([&](auto token) { lease.async_release(std::move(token)); })));
  }
  SECTION("in the background") { lease = Lease{}; }
  CHECK(std::get<0>(lost.get(5s)) == asio::error::operation_aborted);
}

TEST_CASE_METHOD(Fixture, "waiting for the loss of a lease can be cancelled") {
  Lease lease = acquire(mutex);
  asio::cancellation_signal cancel;
  Pending<> lost;
  lease.async_wait_lost(asio::bind_cancellation_slot(cancel.slot(), lost.handler()));
  cancel.emit(asio::cancellation_type::total);
  CHECK(std::get<0>(lost.get(5s)) == asio::error::operation_aborted);
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
  for (auto& one : pending) CHECK(std::get<0>(one.get(5s)) == Error::closing);
}

TEST_CASE_METHOD(Fixture, "a cancel from the client's own thread does not overtake the start that it is for") {
  const Lease holder = acquire(mutex);
  asio::cancellation_signal cancel;
  Pending<Lease> pending;
  Pending<> busy;
  std::promise<void> started;
  asio::post(client.get_executor(), [&, handler = busy.handler(), wait = started.get_future()]() mutable {
    wait.wait();  // meanwhile the start is queued behind us
    cancel.emit(asio::cancellation_type::terminal);
    handler(error_code{});
  });
  mutex.async_acquire(asio::bind_cancellation_slot(cancel.slot(), pending.handler()));
  started.set_value();
  CHECK_FALSE(std::get<0>(busy.get()));
  CHECK(std::get<0>(pending.get(5s)) == asio::error::operation_aborted);
  CHECK(eventually([&] { return children_of(session, path).size() == 1; }));
}
