// Readers and writers of one client, which follow one another without a list of the wait queue or a check of a node.
#include "support/catch.hpp"
#include "support/lock_fixture.hpp"
#include "support/log.hpp"

#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <vector>

using namespace zklock;
using namespace zklock::test;
using namespace std::chrono_literals;

namespace {

struct Fixture : LockFixture {
  InterProcessReadWriteLock lock{client, path};
  Client foreign_client = make_client(server);
  InterProcessReadWriteLock theirs{foreign_client, path};
  std::vector<Pending<Lease>> readers = {};

  [[nodiscard]] std::vector<std::string> line() const { return children_of(session, path); }
  [[nodiscard]] bool are(std::size_t number) const {
    return eventually([&] { return line().size() == number; });
  }

  /// Lets `number` readers of the client enqueue, besides `others` nodes that are there.
  void wait_to_read(std::size_t number, std::size_t others) {
    readers = std::vector<Pending<Lease>>(number);
    for (std::size_t i = 0; i < number; ++i) {
      lock.read_lock().async_acquire(readers[i].handler());
      REQUIRE(are(others + i + 1));
      REQUIRE_FALSE(sync(session));  // by then the reader waits for the node ahead of it, and the next one knows that
    }
  }
  void delete_behind_our_back(const Transaction& nodes) const {
    REQUIRE_FALSE(std::get<0>(outcome_of_operation<TransactionResults>(
        [&](auto token) { connected_session(foreign_client).async_commit(nodes, std::move(token)); })));
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "readers behind a writer of their client send only creates and deletes") {
  const Log log;
  const Client logged{
      {.connect_string = server.connect_string(), .session_timeout = session_timeout, .logger = log.logger()}};
  const InterProcessReadWriteLock ours{logged, path};
  Lease writer = acquire(ours.write_lock());
  readers = std::vector<Pending<Lease>>(50);
  std::int64_t lists = 0;
  const auto are_counted = [&](std::size_t number) {
    return eventually([&] { return ++lists, line().size() == number; });
  };
  const std::int64_t before = server.monitor("zk_packets_received");
  // One after the other: a reader that begins just when the reader before gets its node may list the wait queue.
  for (std::size_t i = 0; i < readers.size(); ++i) {
    ours.read_lock().async_acquire(readers[i].handler());
    REQUIRE(eventually([&] { return log.count("event=waiting") == i + 1; }));
  }
  for (auto& each : readers) REQUIRE_FALSE(each.ready(0ms));
  writer = Lease{};
  for (auto& each : readers) {
    auto [error, reading] = each.get();
    CHECK(reading.is_held());
  }
  REQUIRE(are_counted(0));
  CAPTURE(lists);
  // 50 creates, 50 deletes, the writer's delete, and now and then a renewal.
  CHECK(server.monitor("zk_packets_received") - before - lists <= 115);
}

TEST_CASE_METHOD(Fixture, "readers behind a writer of their client wait for another client's writer ahead of it",
                 "[faults]") {
  Lease foreign = acquire(theirs.write_lock());
  asio::cancellation_signal gives_up;
  Pending<Lease> writer;
  lock.write_lock().async_acquire(asio::bind_cancellation_slot(gives_up.slot(), writer.handler()));
  REQUIRE(are(2));
  wait_to_read(3, 2);
  asio::post(client.get_executor(), [&] { gives_up.emit(asio::cancellation_type::terminal); });
  CHECK(std::get<0>(writer.get()) == asio::error::operation_aborted);
  REQUIRE(are(4));
  for (auto& each : readers) CHECK_FALSE(each.ready(50ms));
  foreign = Lease{};
  for (auto& each : readers) CHECK(std::get<1>(each.get()).is_held());
}

TEST_CASE_METHOD(Fixture,
                 "a waiting reader whose node an operator deleted loses the lock, and the other readers hold it",
                 "[faults]") {
  Lease writer = acquire(lock.write_lock());
  wait_to_read(3, 1);
  std::vector<std::string> names = line();
  std::ranges::sort(names, {}, [](const std::string& name) { return name.substr(name.size() - 10); });
  delete_behind_our_back(Transaction{}.remove(path + "/" + names[2]));  // the second reader's
  writer = Lease{};
  const Lease first = std::get<1>(readers[0].get());
  const Lease second = std::get<1>(readers[1].get());
  const Lease third = std::get<1>(readers[2].get());
  CHECK(eventually([&] { return second.state() == LeaseState::lost; }));
  CHECK(first.is_held());
  CHECK(third.is_held());
}

TEST_CASE_METHOD(Fixture,
                 "a reader whose node an operator deleted lets the writer behind it in, and the reader behind that",
                 "[faults]") {
  Lease reader = acquire(lock.read_lock());
  Pending<Lease> first;
  lock.write_lock().async_acquire(first.handler());
  REQUIRE(are(2));
  Pending<Lease> second;
  lock.read_lock().async_acquire(second.handler());
  REQUIRE(are(3));
  delete_behind_our_back(Transaction{}.remove(reader.node_path()));
  reader = Lease{};
  CHECK(std::get<1>(first.get()).is_held());  // and released
  const Lease taken = std::get<1>(second.get());
  REQUIRE_FALSE(sync(session));
  CHECK(taken.is_held());
}

TEST_CASE_METHOD(Fixture, "readers wait for the new holder of a lock that an operator deleted with its directory",
                 "[faults]") {
  Lease writer = acquire(lock.write_lock());
  delete_behind_our_back(Transaction{}.remove(writer.node_path()).remove(path));
  Lease foreign = acquire(theirs.write_lock());
  wait_to_read(2, 1);  // the first has the number after the writer's
  writer = Lease{};
  for (auto& each : readers) CHECK_FALSE(each.ready(50ms));
  CHECK(foreign.is_held());
  foreign = Lease{};
  for (auto& each : readers) CHECK(std::get<1>(each.get()).is_held());
}
