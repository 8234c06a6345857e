// How a Client finds its servers: names, addresses, and new lists.
#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/frame_proxy.hpp"
#include "support/resolver.hpp"

#include <boost/asio/io_context.hpp>

using namespace zklock;
using namespace zklock::test;

namespace {

constexpr std::chrono::milliseconds timeout = session_timeout;

error_code create(const Session& session, const std::string& path, CreateMode mode) {
  return std::get<0>(
      outcome_of_operation<CreateResult>([&](auto token) { session.async_create(path, "", mode, std::move(token)); }));
}

std::string name(const std::string& host, const std::string& address) {
  return host + address.substr(address.rfind(':'));
}

}  // namespace

TEST_CASE("servers are found by name, and a name that fails is passed over and tried again", "[faults]") {
  FakeNames names;
  const std::string port = name("", shared_server().connect_string());
  SECTION("one of two names is known") {
    names.set("two.test", {"127.0.0.1"});
    const Client client{{.connect_string = "one.test" + port + ",two.test" + port, .session_timeout = timeout}};
    CHECK(client.wait_connected(10s));
  }
  SECTION("the only name is unknown at first") {
    const Client client{{.connect_string = "one.test" + port, .session_timeout = timeout}};
    REQUIRE(eventually([&] { return names.look_ups("one.test") >= 1; }));
    CHECK_FALSE(client.session());
    names.set("one.test", {"127.0.0.1"});
    CHECK(client.wait_connected(10s));
  }
  SECTION("the system's resolver: localhost is two addresses, and one of them may have no server") {
    const Client client{{.connect_string = "localhost" + port, .session_timeout = timeout}};
    CHECK(client.wait_connected(10s));
  }
}

TEST_CASE("a name is looked up again when its server is gone, and the session moves with it", "[faults]") {
  testing::TestServer server;
  FrameProxy old_home{server.port(), "127.0.0.1"};
  FakeNames names;
  names.set("home.test", {"127.0.0.2"});  // no server there
  const Client client{{.connect_string = name("home.test", old_home.address()), .session_timeout = timeout}};
  CHECK_FALSE(client.wait_connected(200ms));
  names.set("home.test", {"127.0.0.1"});
  CHECK(client.wait_connected(10s));
  const auto id = client.session().id();
  const int look_ups = names.look_ups("home.test");
  names.fail("home.test");  // a failed look-up removes no known address
  old_home.cut();
  CHECK(eventually([&] { return names.look_ups("home.test") > look_ups; }));
  CHECK(client.wait_connected(10s));
  CHECK(client.session().id() == id);
}

TEST_CASE("a client finds a server on an IPv6 address, with or without an IPv4 address beside it", "[faults]") {
  FrameProxy six{shared_server().port(), "127.0.0.1", "::1"};
  FrameProxy four{shared_server().port()};
  CHECK(six.address().starts_with("[::1]:"));
  const Client client{{.connect_string = six.address(), .session_timeout = timeout}};
  CHECK(client.wait_connected(10s));
  const auto id = client.session().id();
  const Client both{{.connect_string = four.address() + "," + six.address(), .session_timeout = timeout}};
  CHECK(both.wait_connected(10s));
  CHECK(six.connections() + four.connections() == 2);
  four.refuse();
  four.cut();
  six.cut();
  CHECK(eventually([&] { return client.session().state() == SessionState::connected && six.connections() >= 2; }));
  CHECK(both.wait_connected(10s));
  CHECK(client.session().id() == id);
}

TEST_CASE("a slow look-up of a name delays nothing else", "[faults]") {
  FakeNames names;
  for (const char* slow : {"one.test", "two.test"}) names.hold(slow);
  const std::string good = shared_server().connect_string();
  const std::string port = name("", good);
  const std::string slow = "one.test" + port + ",two.test" + port;
  SECTION("another server") {
    const Client client{{.connect_string = slow + "," + good, .session_timeout = timeout}};
    CHECK(client.wait_connected(30s));
  }
  SECTION("another name") {
    names.set("three.test", {"127.0.0.1"});
    const Client client{{.connect_string = slow + ",three.test" + port, .session_timeout = timeout}};
    CHECK(client.wait_connected(30s));
  }
  SECTION("closing") {
    const Client client{{.connect_string = slow, .session_timeout = timeout}};
    // All names are looked up at once.
    CHECK(eventually([&] { return names.look_ups("one.test") == 1 && names.look_ups("two.test") == 1; }));
    // The client is closed before the names are released. So is the next section's.
  }
  SECTION("a given executor") {
    asio::io_context context;
    { const Client client{context.get_executor(), {.connect_string = slow}}; }
    context.run();
  }
  SECTION("the client itself, once one of its names is known") {
    names.set("one.test", {"127.0.0.1"});
    const Client client{{.connect_string = slow, .session_timeout = timeout}};
    CHECK_FALSE(client.wait_connected(50ms));
    names.release("one.test");
    CHECK(client.wait_connected(30s));
  }
}

TEST_CASE("a connected client looks up no name", "[faults]") {
  FakeNames names;
  names.set("one.test", {"127.0.0.1"});
  const Client client{{.connect_string = name("one.test", shared_server().connect_string()), .session_timeout = 5s}};
  REQUIRE(client.wait_connected(10s));
  const int look_ups = names.look_ups("one.test");
  CHECK_FALSE(eventually([&] { return names.look_ups("one.test") > look_ups; }, 3'500ms));  // two heartbeats
}

TEST_CASE("the session moves to a new list of servers, with its watches", "[faults]") {
  testing::TestServer server;
  FrameProxy before{server.port()};
  FrameProxy after{server.port()};  // the same address, another port: the C client would see no difference
  Client client{{.connect_string = before.address(), .session_timeout = timeout}};
  const Session session = connected_session(client);
  const auto id = session.id();
  auto [error, stat, watch] = outcome_of_operation<std::optional<Stat>, Watch>(
      [&](auto token) { session.async_exists_and_watch("/a", std::move(token)); });
  REQUIRE_FALSE(create(session, "/mine", CreateMode::ephemeral));

  client.update_server_list(after.address());
  CHECK(eventually([&] { return after.connections() == 1 && session.state() == SessionState::connected; }));
  CHECK(session.id() == id);
  CHECK(exists(session, "/mine"));
  Pending<WatchEvent> seen;
  watch.async_wait(seen.handler());
  REQUIRE_FALSE(create(session, "/a", CreateMode::persistent));
  CHECK_FALSE(std::get<0>(seen.get()));

  SECTION("a list that still has the server costs no connection") {
    client.update_server_list(before.address() + "," + after.address());
    CHECK_FALSE(eventually([&] { return session.state() != SessionState::connected; }, 300ms));
    CHECK(after.connections() == 1);
    after.refuse();
    after.cut();
    CHECK(eventually([&] { return before.connections() == 2; }));
  }
  SECTION("bad lists are refused, and change nothing") {
    CHECK_THROWS_AS(client.update_server_list(""), boost::system::system_error);
    CHECK_THROWS_AS(client.update_server_list("a:1,,b:2"), boost::system::system_error);
    CHECK_THROWS_AS(client.update_server_list(after.address() + "/other"), boost::system::system_error);
    CHECK(exists(session, "/mine"));
  }
  SECTION("a list of servers that are not there: the link is lost, and comes back with a good one") {
    client.update_server_list("127.0.0.1:1");
    CHECK(eventually([&] { return session.state() == SessionState::suspended; }));
    client.update_server_list(before.address());
    CHECK(eventually([&] { return session.state() == SessionState::connected; }));
    CHECK(session.id() == id);
  }
}
