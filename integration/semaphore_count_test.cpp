// InterProcessSemaphore whose number of permits a node keeps.
#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/semaphore.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <string>

using namespace zklock;
using namespace zklock::test;
using namespace std::string_literals;

namespace {

struct Fixture {
  testing::TestServer& server = shared_server();
  Client client = make_client(server);
  Session session = connected_session(client);
  std::string path = fresh_path();
  std::string node = path + "-counts/orders";
  InterProcessSemaphore semaphore{client, path, SharedPermits{.path = node, .seed = 1}};

  [[nodiscard]] std::size_t leases() const { return children_of(session, path + "/leases").size(); }
  /// The holder of the mutex waits: for a permit, and for a change of their number.
  [[nodiscard]] bool somebody_waits() const { return server.monitor("zk_watch_count") == 2; }
  [[nodiscard]] DataResult read() const {
    return std::get<1>(
        outcome_of_operation<DataResult>([&](auto token) { session.async_get_data(node, std::move(token)); }));
  }
  void write(const std::string& data) const {
    REQUIRE_FALSE(std::get<0>(
        outcome_of_operation<Stat>([&](auto token) { session.async_set_data(node, data, std::move(token)); })));
  }
  void remove() const {
    REQUIRE_FALSE(
        std::get<0>(outcome_of_operation<>([&](auto token) { session.async_remove(node, std::move(token)); })));
  }
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
  CHECK(server.monitor("zk_watch_count") == 0);
}

TEST_CASE_METHOD(Fixture, "raising the number of permits lets who waits in at once") {
  const Lease lease = acquire(semaphore);
  Pending<std::vector<Lease>> waiter;
  semaphore.async_acquire_many(2, waiter.handler());  // more than there are yet
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

TEST_CASE_METHOD(Fixture, "lowering the number of permits takes none away, and lets nobody in until enough are free") {
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

TEST_CASE_METHOD(Fixture, "a number of permits that is none is an error that says so, also while somebody waits") {
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
  SECTION("when somebody waits") {
    const Lease lease = acquire(semaphore);
    Pending<Lease> waiter;
    semaphore.async_acquire(waiter.handler());
    REQUIRE(eventually([&] { return somebody_waits(); }));
    write("two");
    CHECK(std::get<0>(waiter.get()) == Error::invalid_data);
  }
  CHECK(semaphore_leaves_no_trace(server, session, path));
}

TEST_CASE_METHOD(Fixture, "a number of zero or less lets nobody in") {
  InterProcessSemaphore closed{client, path, SharedPermits{.path = node, .seed = 0}};
  CHECK_FALSE(closed.try_acquire());
  CHECK_FALSE(closed.acquire(30ms));
  CHECK(read().data == "\0\0\0\0"s);
  write("\xff\xff\xff\xff"s);
  CHECK_FALSE(closed.try_acquire());
  write("\0\0\0\x01"s);
  CHECK(closed.try_acquire());
}

TEST_CASE_METHOD(Fixture, "a node of the number of permits that somebody deletes is made again with the seed") {
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

TEST_CASE_METHOD(Fixture, "a waiter that is cancelled watches the number of permits no more") {
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

TEST_CASE_METHOD(Fixture, "a number of permits in a namespace is there with the semaphore") {
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
