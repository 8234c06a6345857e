// Waiters for an InterProcessMutex against a healthy server: their order, their watches, and the nodes of others.
#include "support/catch.hpp"
#include "support/lock_fixture.hpp"

using namespace zklock;
using namespace zklock::test;

namespace {

struct Fixture : LockFixture {
  InterProcessMutex mutex{client, path};
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a waiter gets the lock when the holder releases it, and not before") {
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
    (i % 2 == 0 ? theirs : mutex).async_acquire(pending[i].handler());  // each behind another client's node
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
    // The delete's reply, one event, and the reply to a check of the node. The rest is the test's reads of the
    // counters, a renewal, and pings.
    CHECK(server.monitor("zk_packets_sent") - sent <= 3 + 4);
    CHECK(server.monitor("zk_watch_count") == waiters - i - 1);
    for (std::size_t j = static_cast<std::size_t>(i) + 1; j < pending.size(); ++j) CHECK_FALSE(pending[j].ready());
  }
  holder = Lease{};
  CHECK(leaves_no_trace(server, session, path));
}

TEST_CASE_METHOD(Fixture, "waiters of one client watch no node, and hand the lock off without waiting for the server") {
  constexpr int waiters = 100;
  Lease holder = acquire(mutex);
  std::vector<Pending<Lease>> pending(waiters);
  for (auto& waiter : pending) mutex.async_acquire(waiter.handler());
  REQUIRE(eventually([&] { return children_of(session, path).size() == waiters + 1; }));
  CHECK(server.monitor("zk_watch_count") == 1);  // the lock's directory
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
  // For each waiter, its delete and a check of the next waiter's node.
  CHECK(server.monitor("zk_packets_received") - received <= 2 * waiters + 10);
  holder = Lease{};
  CHECK(leaves_no_trace(server, session, path));
}

TEST_CASE_METHOD(Fixture, "foreign children do not disturb the wait queue") {
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

TEST_CASE_METHOD(Fixture, "a waiter waits for a contender that another client library made") {
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
  for (int i = 0; i < 50; ++i)  // new data of a node wake no waiter
    outcome_of_operation<Stat>(
        [&](auto token) { session.async_set_data(foreign, std::to_string(i), std::move(token)); });
  CHECK(server.monitor("zk_packets_received") - received <= 50 + 3);  // the writes, the read of the counter, and pings
  CHECK(server.monitor("zk_watch_count") == 1);
  CHECK_FALSE(waiter.ready());
  outcome_of_operation<>([&](auto token) { session.async_remove(foreign, std::move(token)); });
  CHECK_FALSE(std::get<0>(waiter.get()));
}
