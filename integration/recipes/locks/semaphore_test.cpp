// InterProcessSemaphore against a healthy server.
#include "support/semaphore.hpp"

#include "support/catch.hpp"
#include "support/lock_fixture.hpp"
#include "support/operations.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <regex>
#include <set>
#include <thread>

using namespace zklock;
using namespace zklock::test;

namespace {

struct Fixture : LockFixture {
  InterProcessSemaphore semaphore{client, path, 2};

  [[nodiscard]] std::size_t leases() const { return children_of(session, path + "/leases").size(); }
  [[nodiscard]] std::size_t queue_length() const { return children_of(session, path + "/locks").size(); }
  [[nodiscard]] bool nothing_left() const { return semaphore_leaves_no_trace(server, session, path); }
  /// The first waiter of the wait queue waits for a permit.
  [[nodiscard]] bool somebody_waits() const { return server.monitor("zk_watch_count") > 0; }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a permit is a lease, and the nodes are Curator's") {
  const Lease lease = acquire(semaphore);
  CHECK(lease.is_held());
  CHECK(lease.count() == 1);
  CHECK(std::regex_match(lease.node_path(),
                         std::regex{path + "/leases/_c_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-lease-[0-9]{10}"}));
  const auto [error, node] = outcome_of_operation<DataResult>(
      [&](auto token) { session.async_get_data(lease.node_path(), std::move(token)); });
  REQUIRE_FALSE(error);
  CHECK(node.data == client.client_id() + ":1");
  CHECK(node.stat.ephemeral_owner == session.id());
  CHECK(node.stat.czxid == lease.fencing_token());
  CHECK(eventually([&] { return queue_length() == 0; }));

  const Lease other = acquire(semaphore);
  CHECK(other.fencing_token() > lease.fencing_token());
  Pending<Lease> waiter;
  semaphore.async_acquire(waiter.handler());
  REQUIRE(eventually([&] { return leases() == 3; }));
  const auto line = children_of(session, path + "/locks");
  REQUIRE(line.size() == 1);
  CHECK(std::regex_match(line.front(), std::regex{"_c_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-lock-[0-9]{10}"}));
  CHECK_FALSE(waiter.ready(50ms));
}

TEST_CASE_METHOD(Fixture, "a full semaphore grants nothing until a permit is released") {
  Lease one = acquire(semaphore);
  const Lease two = acquire(semaphore);
  for (const auto wait : {-1ms, 0ms, 30ms}) CHECK_FALSE(semaphore.acquire(wait));
  CHECK_FALSE(semaphore.try_acquire());
  CHECK(eventually([&] { return leases() == 2 && queue_length() == 0 && server.monitor("zk_watch_count") == 0; }));
  one = Lease{};
  const auto three = semaphore.acquire(10s);
  REQUIRE(three);
  CHECK(three->is_held());
  CHECK_FALSE(semaphore.acquire(30ms));
}

TEST_CASE_METHOD(Fixture, "a released permit wakes one waiter, the first of the wait queue") {
  std::vector<Lease> held = semaphore.acquire_many(2);
  std::vector<Pending<Lease>> waiters(6);
  for (std::size_t i = 0; i < waiters.size(); ++i) {
    semaphore.async_acquire(waiters[i].handler());
    REQUIRE(eventually([&] { return queue_length() == i + 1; }));
  }
  REQUIRE(eventually([&] { return leases() == 3 && somebody_waits(); }));
  std::int64_t last = held.back().fencing_token();
  for (auto& waiter : waiters) {
    CHECK_FALSE(waiter.ready());
    held.erase(held.begin());
    auto [error, lease] = waiter.get();
    REQUIRE_FALSE(error);
    CHECK(lease.fencing_token() > last);
    last = lease.fencing_token();
    held.push_back(std::move(lease));
  }
  held.clear();
  CHECK(nothing_left());
}

TEST_CASE_METHOD(Fixture, "several permits are taken together or not at all") {
  Lease one = acquire(semaphore);
  CHECK_FALSE(semaphore.acquire_many(2, 0s));
  CHECK_FALSE(semaphore.acquire_many(2, 30ms));
  CHECK(eventually([&] { return leases() == 1 && queue_length() == 0 && server.monitor("zk_watch_count") == 0; }));
  Pending<std::vector<Lease>> both;
  semaphore.async_acquire_many(2, both.handler());
  REQUIRE(eventually([&] { return leases() == 3; }));
  Pending<Lease> behind;  // one permit is free, but the first waiter is served first
  semaphore.async_acquire(behind.handler());
  CHECK_FALSE(both.ready(50ms));
  one = Lease{};
  auto [error, leases_of_both] = both.get();
  REQUIRE_FALSE(error);
  REQUIRE(leases_of_both.size() == 2);
  CHECK(leases_of_both[0].node_path() != leases_of_both[1].node_path());
  CHECK_FALSE(behind.ready(50ms));
  CHECK_FALSE(std::get<0>(
      outcome_of_operation<>([&lease = leases_of_both[0]](auto token) { lease.async_release(std::move(token)); })));
  CHECK(std::get<1>(behind.get()).is_held());
  CHECK(leases_of_both[1].is_held());
}

TEST_CASE_METHOD(Fixture, "two clients that want all permits at the same time do not block each other") {
  const Client two = make_client(server);
  const InterProcessSemaphore theirs{two, path, 2};
  for (int round = 0; round < 50; ++round) {
    Pending<std::vector<Lease>> ours_pending;
    Pending<std::vector<Lease>> theirs_pending;
    semaphore.async_acquire_many(2, ours_pending.handler());
    theirs.async_acquire_many(2, theirs_pending.handler());
    REQUIRE(eventually([&] { return ours_pending.ready() || theirs_pending.ready(); }));
    auto& first = ours_pending.ready() ? ours_pending : theirs_pending;
    auto& second = &first == &ours_pending ? theirs_pending : ours_pending;
    {
      const auto [error, leases] = first.get();
      REQUIRE_FALSE(error);
      CHECK(leases.size() == 2);
      CHECK_FALSE(second.ready());
    }
    REQUIRE_FALSE(std::get<0>(second.get()));
  }
  CHECK(nothing_left());
}

TEST_CASE_METHOD(Fixture, "invalid numbers of permits are refused before anything is sent") {
  for (const std::int32_t bad : {0, -1, INT32_MIN}) {
    CHECK_THROWS_AS(InterProcessSemaphore(client, path, bad), boost::system::system_error);
    const InterProcessSemaphore& refusing = semaphore;
    CHECK(std::get<0>(outcome_of_operation<std::vector<Lease>>(
              [&](auto token) { refusing.async_acquire_many(bad, std::move(token)); })) == LockError::invalid_permits);
  }
  CHECK_THROWS_AS(InterProcessSemaphore(client, path, SharedPermits{path + "-count", -1}), boost::system::system_error);
  CHECK_THROWS_AS(InterProcessSemaphore(client, path, SharedPermits{"count"}), boost::system::system_error);
  CHECK_THROWS_AS(InterProcessSemaphore(client, "/", 1), boost::system::system_error);
  CHECK_THROWS_AS(semaphore.acquire_many(3), boost::system::system_error);
  CHECK_THROWS_AS(semaphore.acquire_many(3, 0s), boost::system::system_error);
  InterProcessSemaphore wide{client, path, INT32_MAX};
  CHECK_THROWS_AS(wide.acquire_many(1'001), boost::system::system_error);
  CHECK_FALSE(exists(session, path));
  CHECK(wide.acquire_many(1'000).size() == 1'000);
}

TEST_CASE_METHOD(Fixture, "foreign children count as permits") {
  const std::string keeper = acquire(semaphore).node_path();  // makes the directories
  for (const std::string name : {"x", "_c_00000000-0000-4000-8000-000000000000-lease-0000000007"})
    REQUIRE_FALSE(std::get<0>(outcome_of_operation<CreateResult>([&](auto token) {
      session.async_create(path + "/leases/" + name, "10.0.0.1", CreateMode::ephemeral, std::move(token));
    })));
  REQUIRE(eventually([&] { return leases() == 2; }));
  Pending<Lease> waiter;
  semaphore.async_acquire(waiter.handler());
  REQUIRE(eventually([&] { return leases() == 3; }));
  CHECK_FALSE(waiter.ready(50ms));
  outcome_of_operation<>([&](auto token) { session.async_remove(path + "/leases/x", std::move(token)); });
  CHECK(std::get<1>(waiter.get()).is_held());
}

TEST_CASE_METHOD(Fixture, "the holders of permits can be listed") {
  const auto holders = [&] {
    return std::get<1>(outcome_of_operation<std::vector<LockParticipant>>(
        [&](auto token) { semaphore.async_participants(std::move(token)); }));
  };
  CHECK(holders().empty());
  std::vector<Lease> held;
  for (std::size_t count = 1; count <= 2; ++count) {
    held.push_back(acquire(semaphore));
    const auto listed = holders();
    REQUIRE(listed.size() == count);
    CHECK(listed.back().node_path == held.back().node_path());
    CHECK(listed.back().fencing_token == held.back().fencing_token());
    CHECK(listed.back().kind == LockKind::permit);
    CHECK(listed.back().client_id == client.client_id());
    CHECK(listed.back().count == 1);
    CHECK(listed.back().session_id == session.id());
  }
  Pending<Lease> waiter;
  semaphore.async_acquire(waiter.handler());
  REQUIRE(eventually([&] { return leases() == 3; }));
  const auto with_the_first_in_line = holders();
  REQUIRE(with_the_first_in_line.size() == 3);
  CHECK(with_the_first_in_line[1].node_path == held[1].node_path());
}

TEST_CASE_METHOD(Fixture, "cancelling an acquire of permits at any moment completes once, and leaves no trace") {
  const Lease holder = acquire(semaphore);
  for (int round = 0; round < 120; ++round) {
    asio::cancellation_signal cancel;
    Pending<std::vector<Lease>> pending;
    semaphore.async_acquire_many(2, asio::bind_cancellation_slot(cancel.slot(), pending.handler()));
    // Lets the attempt come as far as `round` says: the test's requests are answered in order with those of the
    // attempt.
    for (int step = 0; step < round % 8; ++step) static_cast<void>(sync(session));
    cancel.emit(asio::cancellation_type::terminal);
    const auto [error, leases] = pending.get();
    CHECK(error == asio::error::operation_aborted);
    CHECK(leases.empty());
    CHECK(pending.completions() == 1);
  }
  CHECK(eventually([&] { return leases() == 1 && queue_length() == 0 && server.monitor("zk_watch_count") == 0; }));
}

TEST_CASE_METHOD(Fixture, "a cancelled waiter keeps no permit, and lets the next waiter in") {
  std::vector<Lease> held = semaphore.acquire_many(2);
  asio::cancellation_signal cancel;
  Pending<std::vector<Lease>> first;
  Pending<Lease> second;
  semaphore.async_acquire_many(2, asio::bind_cancellation_slot(cancel.slot(), first.handler()));
  REQUIRE(eventually([&] { return leases() == 4; }));
  semaphore.async_acquire(second.handler());
  REQUIRE(eventually([&] { return queue_length() == 2; }));
  held.pop_back();
  CHECK_FALSE(first.ready(50ms));
  cancel.emit(asio::cancellation_type::terminal);
  CHECK(std::get<0>(first.get()) == asio::error::operation_aborted);
  CHECK(std::get<1>(second.get()).is_held());
}

TEST_CASE_METHOD(Fixture, "closing a client frees its permits") {
  std::optional<Client> other{make_client(server)};
  InterProcessSemaphore theirs{*other, path, 2};
  const std::vector<Lease> held = theirs.acquire_many(2);
  Pending<Lease> waiter;
  semaphore.async_acquire(waiter.handler());
  REQUIRE(eventually([&] { return leases() == 3; }));
  CHECK_FALSE(waiter.ready(50ms));
  other.reset();
  CHECK(std::get<1>(waiter.get()).is_held());
  CHECK(held.front().state() == LeaseState::lost);
}

TEST_CASE_METHOD(Fixture, "destroying the client while permits are taken completes each attempt and leaves no node") {
  const Lease holder = acquire(semaphore);
  for (int round = 0; round < 12; ++round) {
    std::vector<Pending<std::vector<Lease>>> pending(3);
    {
      Client other = make_client(server);
      const InterProcessSemaphore theirs{other, path, 2};
      if (round % 4 != 0) static_cast<void>(connected_session(other));
      for (auto& one : pending) theirs.async_acquire_many(2, one.handler());
      if (round % 4 == 2) REQUIRE(eventually([&] { return queue_length() > 0; }));
      if (round % 4 == 3) REQUIRE(eventually([&] { return leases() == 3; }));
    }
    for (auto& one : pending) {
      const auto [error, leases] = one.get();
      CHECK((error == Error::closing || error == Error::closed));
      CHECK(leases.empty());
      CHECK(one.completions() == 1);
    }
  }
  CHECK(eventually([&] { return leases() == 1 && queue_length() == 0 && server.monitor("zk_watch_count") == 0; }));
}

TEST_CASE_METHOD(Fixture, "permits are released when the executor ends while they are acquired") {
  const Lease holder = acquire(semaphore);
  for (int round = 0; round < 4; ++round) {
    Pending<std::vector<Lease>> pending;
    {
      asio::io_context context;
      Client other{context.get_executor(), {.connect_string = server.connect_string(), .session_timeout = 2s}};
      const InterProcessSemaphore theirs{other, path, 2};
      theirs.async_acquire_many(2, pending.handler());
      const std::size_t so_many = round % 2 == 0 ? 3 : 2;
      REQUIRE(eventually([&] {
        context.poll();
        return leases() >= so_many;
      }));
    }
    CHECK(pending.completions() <= 1);
    CHECK(eventually([&] { return leases() == 1 && queue_length() == 0; }));
  }
}

TEST_CASE_METHOD(Fixture, "blocking for a permit on the client's own thread is refused") {
  Pending<> refused;
  session.async_sync("/",
                     asio::bind_executor(client.get_executor(), [&, handler = refused.handler()](error_code) mutable {
                       error_code seen;
                       try {
                         static_cast<void>(semaphore.acquire());
                       } catch (const boost::system::system_error& error) {
                         seen = error.code();
                       }
                       handler(seen);
                     }));
  CHECK(std::get<0>(refused.get()) == Error::blocking_in_handler);
}

TEST_CASE_METHOD(Fixture, "the semaphore's directories are containers, which the server removes when they are empty") {
  { const Lease lease = acquire(semaphore); }
  CHECK(eventually([&] { return !exists(session, path); }));
}

TEST_CASE_METHOD(Fixture,
                 "an uncontended permit costs five requests, and leaves no watch but one on the mutex's directory") {
  // The test makes the directories: containers that the semaphore makes may be deleted between the rounds.
  for (const char* directory : {"/locks", "/leases"})
    REQUIRE_FALSE(create(client, path + directory, "", CreateOptions{CreateMode::persistent}.creating_parents()));
  constexpr int rounds = 50;
  const auto before = server.monitor("zk_packets_received");
  for (int i = 0; i < rounds; ++i) {
    Lease lease = acquire(semaphore);
    CHECK(server.monitor("zk_watch_count") <= 1);
    REQUIRE_FALSE(std::get<0>(outcome_of_operation<>([&](auto token) { lease.async_release(std::move(token)); })));
  }
  // A create for the mutex, create and list for the permit, and two deletes; also the test's reads of the counter.
  CHECK(server.monitor("zk_packets_received") - before <= 5 * rounds + rounds + 8);
}

TEST_CASE("coroutines on a given executor may acquire permits") {
  asio::io_context context;
  Client client{context.get_executor(),
                {.connect_string = shared_server().connect_string(), .session_timeout = session_timeout}};
  const InterProcessSemaphore semaphore{client, fresh_path(), 3};
  std::size_t held = 0;
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        Lease one = co_await semaphore.async_acquire(10s);
        std::vector<Lease> two = co_await semaphore.async_acquire_many(2);
        held = two.size() + one.count();
        co_await one.async_release();
        two.clear();
        co_await client.async_close();
      },
      asio::detached);
  context.run();
  CHECK(held == 3);
}

TEST_CASE("a semaphore that was moved from, or whose client is closed, refuses calls") {
  Client client = make_client(shared_server());
  InterProcessSemaphore semaphore{client, fresh_path(), 1};
  client.close();
  CHECK(std::get<0>(outcome_of_operation<Lease>([&](auto token) { semaphore.async_acquire(std::move(token)); })) ==
        Error::closed);
  CHECK_THROWS_AS(semaphore.try_acquire(), boost::system::system_error);
  const InterProcessSemaphore moved{std::move(semaphore)};
  CHECK(semaphore.path().empty());  // NOLINT(*-use-after-move)
  CHECK_THROWS_AS(semaphore.acquire(), boost::system::system_error);
  CHECK_THROWS_AS(semaphore.async_acquire([](error_code, Lease) {}), boost::system::system_error);
}
