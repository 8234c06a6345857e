// Watches against a real server.
#include "support/catch.hpp"
#include "support/frame_proxy.hpp"
#include "support/lock_fixture.hpp"
#include "support/operations.hpp"

#include <zklock/recipes/caches/watching.hpp>

using namespace zklock;
using namespace zklock::test;

namespace {

using Kind = DataChange::Kind;
using Names = std::vector<std::string>;

struct Fixture : LockFixture {
  Client other = make_client(server);

  Fixture() { REQUIRE_FALSE(create(client, path, "1", CreateOptions{CreateMode::persistent}.creating_parents())); }
  void write(const std::string& data) { REQUIRE_FALSE(std::get<0>(set_data(client, path, data))); }
};

/// A reader whose link the test cuts.
struct FarFixture : Fixture {
  FrameProxy proxy{server.port()};
  Client away{{.connect_string = proxy.address(), .session_timeout = session_timeout, .retry = RetryNTimes{50, 50ms}}};

  FarFixture() { REQUIRE(away.wait_connected(20s)); }
  void disconnect() {
    proxy.refuse();
    proxy.cut();
    REQUIRE(eventually([&] { return away.state() != ConnectionState::connected; }));
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a watch of data shows a node that changes, goes and comes again") {
  DataWatch watch = watch_data(other, path);
  CHECK(watch.next().node.value().data == "1");
  write("2");
  const DataChange change = watch.next();
  CHECK(change.kind == Kind::changed);
  CHECK(change.node.value().data == "2");
  delete_node(path);
  CHECK(watch.next().kind == Kind::deleted);
  REQUIRE_FALSE(create(client, path, "3"));
  CHECK(watch.next().node.value().data == "3");
  CHECK_FALSE(watch.next(100ms));
  CHECK(watch.freshness().state == Freshness::State::live);
}

TEST_CASE_METHOD(Fixture, "a watch of children shows which children come and go") {
  ChildrenWatch watch = watch_children(other, path);
  CHECK(watch.next().names.empty());
  REQUIRE_FALSE(create(client, path + "/a"));
  CHECK(watch.next().added == Names{"a"});
  delete_node(path + "/a");
  CHECK(watch.next().removed == Names{"a"});
}

TEST_CASE_METHOD(FarFixture, "a watch reads only what has changed while its link was lost", "[faults]") {
  DataWatch watch = watch_data(away, path);
  CHECK(watch.next().node.value().data == "1");
  REQUIRE(eventually([&] { return watch.freshness().state == Freshness::State::live; }));
  const int reads = proxy.requests(Opcode::get_data);
  const int syncs = proxy.requests(Opcode::sync);
  disconnect();
  CHECK(watch.freshness().state == Freshness::State::stale);
  proxy.accept_again();
  REQUIRE(eventually([&] { return watch.freshness().state == Freshness::State::live; }));
  CHECK(proxy.requests(Opcode::get_data) == reads);
  CHECK(proxy.requests(Opcode::sync) == syncs + 1);
  disconnect();
  for (const char* data : {"2", "3", "4"}) write(data);
  proxy.accept_again();
  const DataChange change = watch.next();
  CHECK(change.node.value().data == "4");
  CHECK(change.skipped == 2);
  CHECK(proxy.requests(Opcode::get_data) == reads + 1);
}

TEST_CASE_METHOD(FarFixture, "a watch sees that its node was created anew behind a lost link", "[faults]") {
  DataWatch watch = watch_data(away, path);
  watch.next();
  disconnect();
  delete_node(path);
  REQUIRE_FALSE(create(client, path, "1"));
  proxy.accept_again();
  CHECK(watch.next().kind == Kind::recreated);
}

TEST_CASE_METHOD(FarFixture, "the read after an event is made again when the link is lost on its way", "[faults]") {
  for (const CutPoint point : {CutPoint::before_request, CutPoint::after_request, CutPoint::before_reply}) {
    DataWatch watch = watch_data(away, path);
    watch.next();
    REQUIRE(eventually([&] { return watch.freshness().state == Freshness::State::live; }));
    const int cuts = proxy.cuts();
    proxy.cut_at({.opcode = Opcode::get_data, .point = point});
    write("point " + std::to_string(static_cast<int>(point)));
    CHECK(watch.next().node.value().data == "point " + std::to_string(static_cast<int>(point)));
    CHECK(proxy.cuts() == cuts + 1);
  }
}

TEST_CASE_METHOD(Fixture, "a watch goes on when its session has ended", "[faults]") {
  DataWatch watch = watch_data(other, path);
  watch.next();
  const SessionCredentials before = connected_session(other).credentials();
  server.end_session(before.id, {before.password.data(), before.password.size()});
  write("2");
  CHECK(watch.next().node.value().data == "2");
  REQUIRE(eventually([&] { return other.session().id() != before.id; }));
  write("3");
  const DataChange last = watch.next();
  CHECK(last.node.value().data == "3");
}

TEST_CASE_METHOD(Fixture, "a watch that is given up leaves none at the server, and ends with its client") {
  {
    DataWatch watch = watch_data(other, path);
    watch.next();
    CHECK(server.monitor("zk_watch_count") == 1);
  }
  CHECK(eventually([&] { return server.monitor("zk_watch_count") == 0; }));
  DataWatch watch = watch_data(other, path);
  watch.next();
  other.close();
  try {
    watch.next();
    FAIL("the stream goes on");
  } catch (const boost::system::system_error& error) {
    CHECK(error.code() == Error::closing);
  }
  CHECK(watch.freshness().state == Freshness::State::gone);
}

TEST_CASE_METHOD(Fixture, "to wait for an event on a thread that the client needs is refused") {
  DataWatch watch = watch_data(other, path);
  Pending<> refused;
  asio::post(other.get_executor(), [&, handler = refused.handler()]() mutable {
    try {
      watch.next();
      handler(error_code{});
    } catch (const boost::system::system_error& error) {
      handler(error.code());
    }
  });
  CHECK(std::get<0>(refused.get()) == Error::blocking_in_handler);
}
