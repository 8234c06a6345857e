// An InterProcessSemaphore whose number of permits is kept in a node.
#include "support/catch.hpp"
#include "support/lock_fixture.hpp"
#include "support/semaphore.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <string>

using namespace zklock;
using namespace zklock::test;
using namespace std::string_literals;

namespace {

struct Fixture : LockFixture {
  std::string node = path + "-counts/orders";
  InterProcessSemaphore semaphore{client, path, SharedPermits{.path = node, .seed = 1}};

  [[nodiscard]] std::size_t leases() const { return children_of(session, path + "/leases").size(); }
  /// The holder of the mutex waits for a permit, and for a change of their number; the directory may be watched, too.
  [[nodiscard]] bool somebody_waits() const { return server.monitor("zk_watch_count") >= 3; }
  [[nodiscard]] DataResult read() const {
    return std::get<1>(
        outcome_of_operation<DataResult>([&](auto token) { session.async_get_data(node, std::move(token)); }));
  }
  void write(const std::string& data) const {
    REQUIRE_FALSE(std::get<0>(
        outcome_of_operation<Stat>([&](auto token) { session.async_set_data(node, data, std::move(token)); })));
  }
  void remove() const { delete_node(node); }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "the node of the number of permits is made with the seed, as Curator's SharedCount") {
  const Lease lease = acquire(semaphore);
  const DataResult made = read();
  CHECK(made.data == "\0\0\0\x01"s);
  CHECK(made.stat.ephemeral_owner == 0);
  CHECK_FALSE(semaphore.try_acquire());
  InterProcessSemaphore other{client, path, SharedPermits{.path = node, .seed = 5}};  // the first seed wins
  CHECK_FALSE(other.try_acquire());
  write("\0\0\0\x02"s);
  CHECK(other.try_acquire());
  CHECK(server.monitor("zk_watch_count") <= 1);
}

TEST_CASE_METHOD(Fixture, "raising the number of permits lets the waiter in at once") {
  const Lease lease = acquire(semaphore);
  Pending<std::vector<Lease>> waiter;
  semaphore.async_acquire_many(2, waiter.handler());  // more than exist yet
  Pending<Lease> behind;
  REQUIRE(eventually([&] { return leases() == 3 && somebody_waits(); }));
  semaphore.async_acquire(behind.handler());
  REQUIRE(eventually([&] { return children_of(session, path + "/locks").size() == 2; }));
  write("\0\0\0\x02"s);
  REQUIRE(eventually([&] { return somebody_waits(); }));
  CHECK_FALSE(waiter.ready(50ms));
  write("\0\0\0\x03"s);
  const auto [error, leases_of_two] = waiter.get();
  CHECK_FALSE(error);
  CHECK(leases_of_two.size() == 2);
  CHECK_FALSE(behind.ready(50ms));
  write("\0\0\0\x04"s);
  CHECK(std::get<1>(behind.get()).is_held());
  CHECK(eventually([&] { return server.monitor("zk_watch_count") == 0; }));
}

TEST_CASE_METHOD(Fixture,
                 "lowering the number of permits takes none away, and no waiter gets one until enough are free") {
  std::vector<Lease> held;
  held.push_back(acquire(semaphore));
  write("\0\0\0\x03"s);
  for (int i = 0; i < 2; ++i) held.push_back(acquire(semaphore));
  write("\0\0\0\x01"s);
  for (const Lease& lease : held) CHECK(lease.is_held());
  Pending<Lease> waiter;
  semaphore.async_acquire(waiter.handler());
  REQUIRE(eventually([&] { return leases() == 4 && somebody_waits(); }));
  held.resize(1);
  REQUIRE(eventually([&] { return leases() == 2 && somebody_waits(); }));
  CHECK_FALSE(waiter.ready(50ms));
  held.clear();
  CHECK(std::get<1>(waiter.get()).is_held());
}

TEST_CASE_METHOD(Fixture, "data that are not a number of permits are invalid_data, also while there is a waiter") {
  { const Lease makes_the_node = acquire(semaphore); }
  SECTION("when it is read first") {
    for (const std::string& bad : {""s, "1"s, "\0\0\0\0\x01"s, "\0\0\0\0\0\0\0\x01"s}) {
      write(bad);
      CHECK(std::get<0>(outcome_of_operation<Lease>([&](auto token) { semaphore.async_acquire(std::move(token)); })) ==
            Error::invalid_data);
      try {
        static_cast<void>(semaphore.acquire());
        FAIL("acquired");
      } catch (const boost::system::system_error& error) {
        CHECK(error.code() == Error::invalid_data);
        CHECK(std::string{error.what()}.find(node) != std::string::npos);
      }
    }
  }
  SECTION("while there is a waiter") {
    const Lease lease = acquire(semaphore);
    Pending<Lease> waiter;
    semaphore.async_acquire(waiter.handler());
    REQUIRE(eventually([&] { return somebody_waits(); }));
    write("two");
    CHECK(std::get<0>(waiter.get()) == Error::invalid_data);
  }
  CHECK(semaphore_leaves_no_trace(server, session, path));
}

TEST_CASE_METHOD(Fixture, "with a number of zero or less no acquire gets a permit") {
  InterProcessSemaphore closed{client, path, SharedPermits{.path = node, .seed = 0}};
  CHECK_FALSE(closed.try_acquire());
  CHECK_FALSE(closed.acquire(30ms));
  CHECK(read().data == "\0\0\0\0"s);
  write("\xff\xff\xff\xff"s);
  CHECK_FALSE(closed.try_acquire());
  write("\0\0\0\x01"s);
  CHECK(closed.try_acquire());
}

TEST_CASE_METHOD(Fixture, "a deleted node of the number of permits is made again with the seed") {
  std::optional<Lease> lease = acquire(semaphore);
  Pending<Lease> waiter;
  semaphore.async_acquire(waiter.handler());
  REQUIRE(eventually([&] { return leases() == 2 && somebody_waits(); }));
  remove();
  REQUIRE(eventually([&] { return exists(session, node) && somebody_waits(); }));
  CHECK_FALSE(waiter.ready(50ms));
  lease.reset();
  CHECK(std::get<1>(waiter.get()).is_held());
}

TEST_CASE_METHOD(Fixture, "a cancelled waiter watches the number of permits no more") {
  const Lease lease = acquire(semaphore);
  for (int round = 0; round < 60; ++round) {
    asio::cancellation_signal cancel;
    Pending<Lease> waiter;
    semaphore.async_acquire(asio::bind_cancellation_slot(cancel.slot(), waiter.handler()));
    for (int step = 0; step < round % 12; ++step) static_cast<void>(sync(session));
    cancel.emit(asio::cancellation_type::terminal);
    CHECK(std::get<0>(waiter.get()) == asio::error::operation_aborted);
  }
  CHECK(eventually([&] { return leases() == 1 && server.monitor("zk_watch_count") == 0; }));
}

TEST_CASE_METHOD(Fixture, "the number of permits of a semaphore in a namespace is in that namespace") {
  const Client other = make_client(server);
  InterProcessSemaphore inside{client.using_namespace("app"), path, SharedPermits{.path = node, .seed = 1}};
  InterProcessSemaphore outside{other, "/app" + path, SharedPermits{.path = "/app" + node, .seed = 5}};
  const Lease lease = acquire(inside);
  CHECK(exists(session, "/app" + node));
  CHECK_FALSE(exists(session, node));
  CHECK_FALSE(outside.try_acquire());
  Pending<Lease> second;
  outside.async_acquire(second.handler());
  CHECK_FALSE(second.ready(50ms));
  REQUIRE_FALSE(std::get<0>(outcome_of_operation<Stat>(
      [&](auto token) { session.async_set_data("/app" + node, "\0\0\0\x02"s, std::move(token)); })));
  CHECK(std::get<1>(second.get()).is_held());
}

TEST_CASE_METHOD(Fixture, "the number of permits is read and changed by the semaphore itself") {
  CHECK(semaphore.permits().number == 1);  // makes the node, with the seed
  CHECK(read().data == "\0\0\0\x01"s);
  const Lease lease = acquire(semaphore);
  Pending<Lease> waiter;
  semaphore.async_acquire(waiter.handler());
  REQUIRE(eventually([&] { return somebody_waits(); }));
  const auto [error, raised] =
      outcome_of_operation<PermitNumber>([&](auto token) { semaphore.async_set_permits(2, std::move(token)); });
  CHECK_FALSE(error);
  CHECK(raised.number == 2);
  const auto second = waiter.get();
  CHECK(std::get<1>(second).is_held());
  CHECK(read().data == "\0\0\0\x02"s);
  const auto [unread, now] =
      outcome_of_operation<PermitNumber>([&](auto token) { semaphore.async_permits(std::move(token)); });
  CHECK_FALSE(unread);
  CHECK(now.number == 2);
  CHECK(now.version == raised.version);
  CHECK(semaphore.participants().size() == 2);
}

TEST_CASE_METHOD(Fixture, "a number of permits that another client has changed meanwhile is not overwritten") {
  const PermitNumber before = semaphore.permits();
  const PermitNumber mine = semaphore.set_permits(256, before.version);
  CHECK(mine.number == 256);
  CHECK(read().data == "\0\0\x01\0"s);
  const auto stale = outcome_of_operation<PermitNumber>(
      [&](auto token) { semaphore.async_set_permits(7, before.version, std::move(token)); });
  CHECK(std::get<0>(stale) == Error::bad_version);
  CHECK(semaphore.permits().number == 256);
  CHECK(semaphore.set_permits(0, mine.version).number == 0);
  CHECK_FALSE(semaphore.try_acquire());
}

TEST_CASE_METHOD(Fixture, "set_permits makes a missing node, and refuses an invalid number and a fixed semaphore") {
  const auto refusal = [](const InterProcessSemaphore& of, std::int32_t number, std::int32_t version = any_version) {
    try {
      of.set_permits(number, version);
    } catch (const boost::system::system_error& error) {
      return std::pair<error_code, std::string>{error.code(), error.what()};
    }
    return std::pair<error_code, std::string>{};
  };
  CHECK(refusal(semaphore, 3, 0).first == Error::no_node);
  CHECK(semaphore.set_permits(3).version == 0);
  CHECK(read().data == "\0\0\0\x03"s);
  CHECK(read().stat.ephemeral_owner == 0);
  CHECK(refusal(semaphore, -1).first == LockError::invalid_permits);
  CHECK(refusal(semaphore, -1).second.find(node) != std::string::npos);
  const InterProcessSemaphore fixed{client, path + "-fixed", 4};
  CHECK(fixed.permits().number == 4);
  CHECK(refusal(fixed, 5).first == LockError::invalid_permits);
  CHECK(refusal(fixed, 5).second.find("fixed") != std::string::npos);
  write("12");
  CHECK_THROWS_AS(static_cast<void>(semaphore.permits()), boost::system::system_error);
  CHECK(semaphore.set_permits(2).number == 2);  // it replaces invalid data
}
