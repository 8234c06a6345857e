// SharedCount and SharedValue against a real server.
#include "support/catch.hpp"
#include "support/frame_proxy.hpp"
#include "support/lock_fixture.hpp"
#include "support/operations.hpp"

#include <zklock/recipes/shared/shared_count.hpp>

#include <algorithm>
#include <thread>
#include <vector>

using namespace zklock;
using namespace zklock::test;

namespace {

struct Fixture : LockFixture {
  Client other = make_client(server);
  const SharedCount count{client, path, 0};
  const SharedCount same{other, path, 5};
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a shared count has one seed, one value and growing versions for all clients") {
  CHECK(count.get().value == 0);
  CHECK(same.get().value == 0);
  CHECK(count.set(10).version == 1);
  const auto read = same.get();
  CHECK(read.value == 10);
  const auto done = same.compare_and_set(read, 11);
  CHECK(done.is_set);
  CHECK(done.current->version == 2);
  const auto refused = count.compare_and_set(read, 12);
  CHECK_FALSE(refused.is_set);
  CHECK(refused.current->value == 11);
  CHECK(count.compare_and_set(*refused.current, 12).is_set);
  CHECK_THROWS_AS(count.compare_and_set({12, -1}, 13), boost::system::system_error);
  CHECK(same.get().value == 12);
}

TEST_CASE_METHOD(Fixture, "five followers see the last of 100 values, and count those that they are not shown") {
  count.set(0);
  std::vector<Client> clients;
  std::vector<FollowStream<ValueChange<std::int32_t>>> followers;
  for (int i = 0; i < 5; ++i) {
    clients.push_back(make_client(server));
    followers.push_back(SharedCount{clients.back(), path, 0}.values());
    CHECK(followers.back().next().value->value == 0);
  }
  std::thread writer{[&] {
    for (int i = 1; i <= 100; ++i) count.set(i);
  }};
  for (auto& follower : followers) {
    std::int32_t last = 0;
    std::int32_t version = 0;
    while (last < 100) {
      const auto change = follower.next();
      CHECK(change.value->value > last);
      CHECK(change.value->version == version + 1 + change.skipped);
      last = change.value->value;
      version = change.value->version;
    }
  }
  writer.join();
}

TEST_CASE_METHOD(Fixture, "eight threads of two clients count together by compare-and-set") {
  count.set(0);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([this, i] {
      const SharedCount& mine = i % 2 == 0 ? count : same;
      auto known = mine.get();
      for (int done = 0; done < 10;) {
        auto exchange = mine.compare_and_set(known, known.value + 1);
        known = *exchange.current;
        if (exchange.is_set) ++done;
      }
    });
  for (std::thread& each : threads) each.join();
  CHECK(count.get().value == 80);
}

TEST_CASE_METHOD(Fixture, "a follower goes on over a lost link and a lost session", "[faults]") {
  FrameProxy proxy{server.port()};
  Client away{{.connect_string = proxy.address(), .session_timeout = session_timeout, .retry = RetryNTimes{50, 50ms}}};
  count.set(1);
  auto values = SharedCount{away, path, 0}.values();
  CHECK(values.next().value->value == 1);
  proxy.refuse();
  proxy.cut();
  REQUIRE(eventually([&] { return values.freshness().state == Freshness::State::stale; }));
  count.set(2);
  CHECK_FALSE(values.next(100ms));
  proxy.accept_again();
  CHECK(values.next().value->value == 2);
  const SessionCredentials before = connected_session(away).credentials();
  server.end_session(before.id, {before.password.data(), before.password.size()});
  count.set(3);
  CHECK(values.next().value->value == 3);
  delete_node(path);
  CHECK_FALSE(values.next().value);
  count.set(4);
  CHECK(values.next().value->value == 4);
}

TEST_CASE_METHOD(Fixture, "a compare-and-set whose request is lost is done, and one whose reply is lost is ambiguous",
                 "[faults]") {
  FrameProxy proxy{server.port()};
  Client away{{.connect_string = proxy.address(), .session_timeout = session_timeout, .retry = RetryNTimes{50, 50ms}}};
  REQUIRE(away.wait_connected(20s));
  const SharedCount far{away, path, 0};
  const auto known = far.get();
  proxy.cut_at({.opcode = Opcode::set_data, .point = CutPoint::before_request});
  const auto done = far.compare_and_set(known, 1);
  CHECK(done.is_set);
  proxy.cut_at({.opcode = Opcode::set_data, .point = CutPoint::before_reply});
  try {
    static_cast<void>(far.compare_and_set(*done.current, 2));
    FAIL("the outcome is said to be known");
  } catch (const boost::system::system_error& error) {
    CHECK(outcome_of(error.code()) == Outcome::ambiguous);
  }
  CHECK(proxy.cuts() == 2);
  CHECK(count.get().version == 2);
}
