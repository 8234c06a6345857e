// DistributedDoubleBarrier against a real server.
#include "support/catch.hpp"
#include "support/frame_proxy.hpp"
#include "support/lock_fixture.hpp"
#include "support/operations.hpp"

#include <zklock/recipes/barriers/distributed_double_barrier.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>

#include <optional>
#include <thread>
#include <vector>

using namespace zklock;
using namespace zklock::test;

namespace {

using Entering = Pending<BarrierMembership>;

struct Fixture : LockFixture {
  Client other = make_client(server);
  const DistributedDoubleBarrier barrier{client, path, 2};
  const DistributedDoubleBarrier same{other, path, 2};

  /// Both enter, at once.
  std::pair<BarrierMembership, BarrierMembership> enter_both() {
    Entering one;
    Entering two;
    barrier.async_enter(one.handler());
    same.async_enter(two.handler());
    auto [failed, first] = one.get();
    auto [failed_too, second] = two.get();
    REQUIRE_FALSE(failed);
    REQUIRE_FALSE(failed_too);
    return {std::move(first), std::move(second)};
  }
  void leave_both(BarrierMembership& first, BarrierMembership& second) {
    Pending<> leaving;
    first.async_leave(leaving.handler());
    second.leave();
    CHECK_FALSE(std::get<0>(leaving.get()));
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "the members of a double barrier enter together and leave together, and nothing is left") {
  for (int round = 0; round < 3; ++round) {
    auto [first, second] = enter_both();
    CHECK(first.is_in());
    CHECK(exists(session, path + "/ready"));
    CHECK(children_of(session, path).size() == 3);
    Pending<> leaving;
    first.async_leave(leaving.handler());
    CHECK_FALSE(first.is_in());
    CHECK_FALSE(leaving.ready(200ms));
    second.leave();
    CHECK_FALSE(std::get<0>(leaving.get()));
    CHECK(nothing_left());
  }
}

TEST_CASE_METHOD(Fixture, "a member of a double barrier whose time is up has not been counted, and leaves no trace") {
  CHECK_FALSE(barrier.enter(0ms));
  CHECK_FALSE(barrier.enter(200ms));
  CHECK(eventually([&] { return nothing_left(); }));
  Entering alone;  // the other one has gone: nobody is let in alone
  same.async_enter(300ms, alone.handler());
  CHECK(std::get<0>(alone.get()) == Error::timed_out);
}

TEST_CASE_METHOD(Fixture, "a ready that was left over lets nobody in, and serves the next round") {
  REQUIRE_FALSE(std::get<0>(create_node(client, path + "/ready", "", CreateOptions{}.creating_parent_containers())));
  CHECK_FALSE(barrier.enter(200ms));
  auto [first, second] = enter_both();
  leave_both(first, second);
  CHECK(nothing_left());
}

TEST_CASE_METHOD(Fixture, "one more than a double barrier takes joins late, and is not waited for") {
  auto [first, second] = enter_both();
  Client third_client = make_client(server);
  auto third = DistributedDoubleBarrier{third_client, path, 2}.enter(10s);
  REQUIRE(third);
  leave_both(first, second);
  third->leave();
  CHECK(nothing_left());
}

TEST_CASE_METHOD(Fixture, "a member of a double barrier whose session ends is not waited for, and is told") {
  auto [first, second] = enter_both();
  Pending<> lost;
  second.async_wait_lost(lost.handler());
  CHECK_FALSE(lost.ready(100ms));
  end(other.session());
  first.leave();
  CHECK_FALSE(std::get<0>(lost.get()));
  CHECK_FALSE(second.is_in());
  CHECK(thrown_by([&member = second] { member.leave(); }) == Error::session_expired);
  CHECK(nothing_left());
}

TEST_CASE_METHOD(Fixture, "an enter that is cancelled leaves no trace, and a membership that is destroyed leaves") {
  asio::cancellation_signal signal;
  Entering waiting;
  same.async_enter(asio::bind_cancellation_slot(signal.slot(), waiting.handler()));
  REQUIRE(eventually([&] { return children_of(session, path).size() == 1; }));
  signal.emit(asio::cancellation_type::total);
  CHECK(std::get<0>(waiting.get()) == asio::error::operation_aborted);
  CHECK(eventually([&] { return nothing_left(); }));
  { auto both = enter_both(); }
  CHECK(eventually([&] { return nothing_left(); }));
}

TEST_CASE_METHOD(Fixture, "a leave whose time is up goes on in the background") {
  auto [first, second] = enter_both();
  CHECK_FALSE(first.leave(100ms));
  CHECK(thrown_by([&member = first] { member.leave(); }) == Error::invalid_state);
  second.leave();
  CHECK(eventually([&] { return nothing_left(); }));
}

TEST_CASE_METHOD(Fixture,
                 "a double barrier refuses a bad path and a bad quantity, and an empty membership is in nowhere") {
  CHECK(thrown_by([&] { DistributedDoubleBarrier(client, "start", 2); }) == Error::invalid_path);
  for (const int quantity : {-1, 0, DistributedDoubleBarrier::max_members + 1})
    CHECK(thrown_by([&, quantity] { DistributedDoubleBarrier(client, path, quantity); }) == Error::bad_arguments);
  BarrierMembership nowhere;
  CHECK_FALSE(nowhere.is_in());
  CHECK(nowhere.node_path().empty());
  CHECK(thrown_by([&] { nowhere.leave(); }) == Error::empty_object);
}

TEST_CASE("a double barrier goes on when its server is back, and each round is of all", "[faults]") {
  testing::TestServer server;
  const std::string path = "/barriers/start";
  std::vector<Client> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(make_client(server));
  std::vector<Entering> entering(4);
  for (std::size_t i = 0; i < 3; ++i) DistributedDoubleBarrier{clients[i], path, 4}.async_enter(entering[i].handler());
  const Session observer = connected_session(clients[3]);
  REQUIRE(eventually([&] { return children_of(observer, path).size() == 3; }));
  server.kill();
  server.start();
  DistributedDoubleBarrier{clients[3], path, 4}.async_enter(entering[3].handler());
  std::vector<BarrierMembership> memberships;
  for (Entering& each : entering) {
    auto [error, membership] = each.get();
    REQUIRE_FALSE(error);
    memberships.push_back(std::move(membership));
  }
  std::vector<Pending<>> leaving(4);
  for (std::size_t i = 0; i < 4; ++i) memberships[i].async_leave(leaving[i].handler());
  for (auto& each : leaving) CHECK_FALSE(std::get<0>(each.get()));
}
