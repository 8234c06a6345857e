// A Client and its servers: names, lists, several sessions, the end.
#include "../zklock/src/testing/wire.hpp"
#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/frame_proxy.hpp"
#include "support/resolver.hpp"

#include <boost/asio/io_context.hpp>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <map>
#include <mutex>
#include <sstream>

#include <sys/wait.h>
#include <unistd.h>

using namespace zklock;
using namespace zklock::test;

namespace {

constexpr std::chrono::milliseconds timeout{4'000};

error_code create(const Session& session, const std::string& path, CreateMode mode) {
  return std::get<0>(
      outcome_of_operation<CreateResult>([&](auto token) { session.async_create(path, "", mode, std::move(token)); }));
}

std::string name(const std::string& host, const std::string& address) {
  return host + address.substr(address.rfind(':'));
}

}  // namespace

// ---- where the servers are
// ------------------------------------------------------------------------------------------------

TEST_CASE("servers are found by name, each name that fails is passed over, and one is tried again", "[faults]") {
  FakeNames names;
  const std::string port = name("", shared_server().connect_string());
  SECTION("one of them is known") {
    names.set("two.test", {"127.0.0.1"});
    const Client client{{.connect_string = "one.test" + port + ",two.test" + port, .session_timeout = timeout}};
    CHECK(client.wait_connected(10s));
  }
  SECTION("none is, at first") {
    const Client client{{.connect_string = "one.test" + port, .session_timeout = timeout}};
    REQUIRE(eventually([&] { return names.look_ups("one.test") >= 1; }));
    CHECK_FALSE(client.session());
    names.set("one.test", {"127.0.0.1"});
    CHECK(client.wait_connected(10s));
  }
  SECTION("the system's own: localhost is two addresses, and one of them may have nobody") {
    const Client client{{.connect_string = "localhost" + port, .session_timeout = timeout}};
    CHECK(client.wait_connected(10s));
  }
}

TEST_CASE("a name is looked up again when its server is gone, and the session moves with it", "[faults]") {
  testing::TestServer server;
  FrameProxy old_home{server.port(), "127.0.0.1"};
  FakeNames names;
  names.set("home.test", {"127.0.0.2"});  // nobody there
  const Client client{{.connect_string = name("home.test", old_home.address()), .session_timeout = timeout}};
  CHECK_FALSE(client.wait_connected(200ms));
  names.set("home.test", {"127.0.0.1"});
  CHECK(client.wait_connected(10s));
  const auto id = client.session().id();
  const int look_ups = names.look_ups("home.test");
  names.fail("home.test");  // a name service that is down takes nothing away
  old_home.cut();
  CHECK(eventually([&] { return names.look_ups("home.test") > look_ups; }));
  CHECK(client.wait_connected(10s));
  CHECK(client.session().id() == id);
}

TEST_CASE("a server on an IPv6 address, and one on an IPv4 address beside it", "[faults]") {
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

TEST_CASE("a name whose look-up takes its time holds up nobody", "[faults]") {
  FakeNames names;
  for (const char* slow : {"one.test", "two.test"}) names.hold(slow);
  const std::string good = shared_server().connect_string();
  const std::string port = name("", good);
  const std::string slow = "one.test" + port + ",two.test" + port;
  SECTION("no other server") {
    const Client client{{.connect_string = slow + "," + good, .session_timeout = timeout}};
    CHECK(client.wait_connected(5s + slack));
  }
  SECTION("no other name") {
    names.set("three.test", {"127.0.0.1"});
    const Client client{{.connect_string = slow + ",three.test" + port, .session_timeout = timeout}};
    CHECK(client.wait_connected(5s + slack));
  }
  SECTION("no closing") {
    const auto start = std::chrono::steady_clock::now();
    {
      const Client client{{.connect_string = slow, .session_timeout = timeout}};
      // All are asked at once.
      CHECK(eventually([&] { return names.look_ups("one.test") == 1 && names.look_ups("two.test") == 1; }, 2s + slack));
    }
    CHECK(std::chrono::steady_clock::now() - start < 3s + slack);
  }
  SECTION("no executor that was given") {
    asio::io_context context;
    { const Client client{context.get_executor(), {.connect_string = slow}}; }
    const auto start = std::chrono::steady_clock::now();
    context.run();
    CHECK(std::chrono::steady_clock::now() - start < slack);
  }
  SECTION("not the client that it is for") {
    names.set("one.test", {"127.0.0.1"});
    const Client client{{.connect_string = slow, .session_timeout = timeout}};
    CHECK_FALSE(client.wait_connected(50ms));
    names.release("one.test");
    CHECK(client.wait_connected(5s + slack));
  }
}

TEST_CASE("while all is well no name is looked up", "[faults]") {
  FakeNames names;
  names.set("one.test", {"127.0.0.1"});
  const Client client{{.connect_string = name("one.test", shared_server().connect_string()), .session_timeout = 2s}};
  REQUIRE(client.wait_connected(10s));
  const int look_ups = names.look_ups("one.test");
  CHECK_FALSE(eventually([&] { return names.look_ups("one.test") > look_ups; }, 1'500ms));  // two heartbeats
}

TEST_CASE("another list of servers: the session goes there, watches and all", "[faults]") {
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

// ---- several sessions
// --------------------------------------------------------------------------------------------------------

TEST_CASE("several sessions: each path has its own, and what happens to one happens to one", "[faults]") {
  testing::TestServer server;
  const Client client{{.connect_string = server.connect_string(), .session_timeout = timeout, .sessions = 3}};
  REQUIRE(client.wait_connected(20s));
  CHECK(client.state() == ConnectionState::connected);
  std::map<std::int64_t, std::string> path_of;
  for (int i = 0; i < 100; ++i) {
    const std::string path = "/" + std::to_string(i);
    path_of[client.session(path).id()] = path;
    CHECK(client.session(path).id() == client.session(path).id());
  }
  REQUIRE(path_of.size() == 3);
  const auto [victim, path] = *path_of.begin();
  const auto other = path_of.rbegin()->second;
  StateStream all = client.states();
  StateStream one = client.states(path);
  StateStream another = client.states(other);
  const auto next = [](StateStream& stream) {
    return std::get<1>(outcome_of_operation<ConnectionState>([&](auto token) { stream.async_next(std::move(token)); }));
  };
  CHECK(next(all) == ConnectionState::connected);
  CHECK(next(one) == ConnectionState::connected);
  CHECK(next(another) == ConnectionState::connected);

  const auto credentials = client.session(path).credentials();
  server.end_session(credentials.id, {credentials.password.data(), credentials.password.size()});
  const auto await_loss = [&](StateStream& stream) {  // until the server ends it the client may take its session back
    for (ConnectionState state = next(stream); state != ConnectionState::lost; state = next(stream))
      CHECK((state == ConnectionState::suspended || state == ConnectionState::reconnected));
  };
  await_loss(one);
  CHECK(next(one) == ConnectionState::reconnected);
  await_loss(all);
  CHECK(next(all) == ConnectionState::reconnected);
  CHECK(client.session(path).id() != victim);
  CHECK(client.session(other).id() == path_of.rbegin()->first);
  Pending<ConnectionState> unheard;
  another.async_next(unheard.handler());
  CHECK_FALSE(unheard.ready(100ms));
}

TEST_CASE("locks on paths of several sessions exclude each other as ever") {
  const Client one{{.connect_string = shared_server().connect_string(), .session_timeout = timeout, .sessions = 4}};
  const Client other = make_client(shared_server(), timeout);
  for (int i = 0; i < 8; ++i) {
    const std::string path = fresh_path();
    const InterProcessMutex mine{one, path};
    const InterProcessMutex theirs{other, path};
    Lease lease = acquire(mine);
    CHECK_FALSE(
        std::get<1>(outcome_of_operation<Lease>([&](auto token) { theirs.async_acquire(0s, std::move(token)); })));
  }
}

// ---- states and logs
// -------------------------------------------------------------------------------------------------------

TEST_CASE("a callback hears of every state, in order, until its subscription ends", "[faults]") {
  testing::TestServer server;
  Client client = make_client(server, 2s);
  REQUIRE(client.wait_connected(20s));
  std::mutex mutex;
  std::vector<ConnectionState> seen;
  const auto count = [&] {
    const std::lock_guard lock{mutex};
    return seen.size();
  };
  StateSubscription subscription = client.subscribe([&](ConnectionState state) {
    const std::lock_guard lock{mutex};
    seen.push_back(state);
  });
  REQUIRE(eventually([&] { return count() == 1; }));
  server.kill();
  REQUIRE(eventually([&] { return count() == 3; }));
  server.start();
  REQUIRE(eventually([&] { return count() == 4; }));
  {
    using enum ConnectionState;
    const std::lock_guard lock{mutex};
    CHECK(seen == std::vector{connected, suspended, lost, reconnected});
  }
  subscription.cancel();
  client.close();
  CHECK(count() == 4);
  CHECK_THROWS_AS(client.subscribe({}), boost::system::system_error);
}

TEST_CASE("a stream that goes takes its wait along, and one wait at a time is enough") {
  const Client client = make_client(shared_server(), timeout);
  REQUIRE(client.wait_connected(20s));
  Pending<ConnectionState> first;
  Pending<ConnectionState> second;
  Pending<ConnectionState> third;
  {
    StateStream states = client.states();
    states.async_next(first.handler());
    CHECK_FALSE(std::get<0>(first.get()));
    states.async_next(second.handler());
    states.async_next(third.handler());
    CHECK(std::get<0>(third.get()) == Error::invalid_state);
    CHECK_FALSE(second.ready());
  }
  CHECK(std::get<0>(second.get()) == asio::error::operation_aborted);
}

TEST_CASE("log lines say which session, path and operation they are about", "[faults]") {
  std::ostringstream text;
  {
    auto logger = std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text));
    logger->set_level(spdlog::level::debug);
    testing::TestServer server;
    Client client{{.connect_string = server.connect_string(),
                   .session_timeout = timeout,
                   .retry = RetryOneTime{1ms},
                   .logger = logger}};
    const Session session = connected_session(client);
    CHECK_FALSE(exists(session, "/a\nb"));
    CHECK(create(session, "/none/a", CreateMode::persistent) == Error::no_node);
    server.kill();
    CHECK(eventually([&] { return session.state() != SessionState::connected; }));
    client.abort();  // nobody is there to be told
  }
  const std::string lines = text.str();
  CAPTURE(lines);
  CHECK(lines.find("state=connected") != std::string::npos);
  CHECK(lines.find("op=create path=\"/none/a\" error=-101") != std::string::npos);
  CHECK(lines.find("op=exists path=\"/a\\x0ab\"") != std::string::npos);
  CHECK(lines.find("zookeeper: ") != std::string::npos);
  std::istringstream each{lines};
  for (std::string line; std::getline(each, line);) {
    CAPTURE(line);
    CHECK(line.find("session=0x") != std::string::npos);
  }
}

// ---- the end
// -------------------------------------------------------------------------------------------------------------

TEST_CASE("abort is quick whatever the server does, and leaves the session to the server", "[faults]") {
  testing::TestServer server;
  Client client = make_client(server, 10s);
  REQUIRE_FALSE(create(connected_session(client), "/mine", CreateMode::ephemeral));
  server.pause();
  Pending<DataResult> reading;
  client.async_get_data("/", reading.handler());
  const auto start = std::chrono::steady_clock::now();
  client.abort();
  CHECK(std::chrono::steady_clock::now() - start < slack);
  CHECK(std::get<0>(reading.get()));
  CHECK(client.state() == ConnectionState::closed);
  client.close();
  client.abort();
  server.resume();
  const Client other = make_client(server, timeout);
  CHECK(exists(connected_session(other), "/mine"));
}

TEST_CASE("a session that only we hold for lost is closed when the server is found again", "[faults]") {
  testing::TestServer server;
  FrameProxy proxy{server.port()};
  Client client{{.connect_string = proxy.address(), .session_timeout = timeout}};
  const Session session = connected_session(client);
  REQUIRE_FALSE(create(session, "/mine", CreateMode::ephemeral));
  const SessionCredentials credentials = session.credentials();
  proxy.refuse();
  proxy.cut();
  REQUIRE(eventually([&] { return session.state() == SessionState::suspended; }));
  // By a connection of somebody else's the session gets half of its time more at the server.
  const auto half = std::chrono::steady_clock::now() + timeout / 2;
  REQUIRE(eventually([&] { return std::chrono::steady_clock::now() > half; }));
  namespace wire = testing::wire;
  wire::Connection somebody{server.port(), testing::after(5s)};
  somebody.send_connect({credentials.id, {credentials.password.data(), credentials.password.size()}},
                        static_cast<std::int32_t>(timeout.count()));
  REQUIRE(somebody.receive_connected().id == credentials.id);

  REQUIRE(eventually([&] { return session.state() == SessionState::expired; }));
  const Client observer = make_client(server, timeout);
  REQUIRE(exists(connected_session(observer), "/mine"));
  proxy.accept_again();
  CHECK(eventually([&] { return !exists(observer.session(), "/mine"); }, timeout / 4));
  CHECK(client.wait_connected(10s));
  CHECK(client.session().id() != credentials.id);
}

TEST_CASE("in a forked child nothing works, and everything says so, while the parent goes on") {
  Client client = make_client(shared_server());
  const Session session = connected_session(client);
  const InterProcessMutex mutex{client, fresh_path()};
  Lease lease = acquire(mutex);
  const auto refused = [](auto&& call) {
    try {
      call();
    } catch (const boost::system::system_error& error) {
      return error.code() == Error::used_after_fork;
    }
    return false;
  };
  const pid_t child = ::fork();
  if (child == 0) {
    const auto ignore = [](error_code, auto&&...) {};
    const bool all = client.in_forked_child() && refused([&] { client.async_get_data("/", ignore); }) &&
                     refused([&] { session.async_sync("/", ignore); }) && refused([&] { client.close(); }) &&
                     refused([&] { client.async_close(ignore); }) &&
                     refused([&] { static_cast<void>(client.wait_connected(1s)); }) &&
                     refused([&] { mutex.async_acquire(ignore); }) && refused([&] { lease.async_release(ignore); });
    { const Lease dropped = std::move(lease); }
    { const Client dropped = std::move(client); }
    ::_exit(all ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(lease.is_held());
  CHECK(exists(session, lease.node_path()));
}
