// A Client and its sessions: several at a time, their states, the log, the end.
#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/frame_proxy.hpp"
#include "support/log.hpp"
#include "wire.hpp"

#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

using namespace zklock;
using namespace zklock::test;

namespace {

constexpr std::chrono::milliseconds timeout = session_timeout;

error_code create(const Session& session, const std::string& path, CreateMode mode) {
  return std::get<0>(
      outcome_of_operation<CreateResult>([&](auto token) { session.async_create(path, "", mode, std::move(token)); }));
}

}  // namespace

// ---- several sessions

TEST_CASE("of several sessions each path has one, and the loss of one concerns only its paths", "[faults]") {
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
  const auto await_loss = [&](StateStream& stream) {  // until the server ends it, the client may resume its session
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

TEST_CASE("locks on paths of several sessions exclude other clients") {
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

TEST_CASE("a callback is told of every state, in order, until its subscription ends", "[faults]") {
  testing::TestServer server;
  Client client = make_client(server, 4s);
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

TEST_CASE("the destructor waits for a callback that runs, though its subscription has ended") {
  std::optional<Client> client{make_client(shared_server(), timeout)};
  REQUIRE(client->wait_connected(20s));
  const Session session = client->session();
  std::promise<void> begun;
  std::promise<void> end;
  std::atomic<bool> has_ended{false};
  StateSubscription subscription = client->subscribe([&](ConnectionState) {
    begun.set_value();
    end.get_future().wait();
    has_ended = true;
  });
  begun.get_future().wait();
  subscription.cancel();
  auto destroyed = std::async(std::launch::async, [&] {
    client.reset();
    return has_ended.load();
  });
  CHECK(eventually([&] { return is_final(session.state()); }));
  CHECK(destroyed.wait_for(50ms) == std::future_status::timeout);
  end.set_value();
  CHECK(destroyed.get());
}

TEST_CASE("the end of a state stream cancels its wait, and a second wait at a time is refused") {
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

TEST_CASE("log lines name their session, path and operation", "[faults]") {
  const Log log;
  {
    testing::TestServer server;
    Client client{{.connect_string = server.connect_string(),
                   .session_timeout = timeout,
                   .retry = RetryOneTime{1ms},
                   .logger = log.logger()}};
    const Session session = connected_session(client);
    CHECK_FALSE(exists(session, "/a\nb"));
    CHECK(create(session, "/none/a", CreateMode::persistent) == Error::no_node);
    server.kill();
    CHECK(eventually([&] { return session.state() != SessionState::connected; }));
    client.abort();  // there is no server to tell
  }
  CAPTURE(log.text());
  CHECK(log.count("state=connected") > 0);
  CHECK(log.count("op=create path=\"/none/a\" error=-101") > 0);
  CHECK(log.count("op=exists path=\"/a\\x0ab\"") > 0);
  CHECK(log.count("zookeeper: ") > 0);
  CHECK(log.with({"session=0x"}).size() == log.lines().size());
}

// ---- closing

TEST_CASE("abort does not wait for the server, and leaves the session to it", "[faults]") {
  testing::TestServer server;
  Client client = make_client(server, 10s);
  REQUIRE_FALSE(create(connected_session(client), "/mine", CreateMode::ephemeral));
  server.pause();
  Pending<DataResult> reading;
  client.async_get_data("/", reading.handler());
  client.abort();
  CHECK(std::get<0>(reading.get()));
  CHECK(client.state() == ConnectionState::closed);
  client.close();
  client.abort();
  server.resume();
  const Client other = make_client(server, timeout);
  CHECK(exists(connected_session(other), "/mine"));
}

TEST_CASE("a session that only the client takes for lost is closed when the server is found again", "[faults]") {
  constexpr std::chrono::milliseconds lost_after{8'000};  // the half of it is the time for what follows the loss
  testing::TestServer server;
  FrameProxy proxy{server.port()};
  Client client{{.connect_string = proxy.address(), .session_timeout = lost_after}};
  const Session session = connected_session(client);
  REQUIRE_FALSE(create(session, "/mine", CreateMode::ephemeral));
  const SessionCredentials credentials = session.credentials();
  proxy.refuse();
  proxy.cut();
  REQUIRE(eventually([&] { return session.state() == SessionState::suspended; }));
  // Another connection resumes the session after half of the timeout, so the server keeps the session that much longer.
  const auto half = std::chrono::steady_clock::now() + lost_after / 2;
  REQUIRE(eventually([&] { return std::chrono::steady_clock::now() > half; }));
  namespace wire = testing::wire;
  wire::Connection somebody{server.port(), testing::after(5s)};
  somebody.send_connect({credentials.id, {credentials.password.data(), credentials.password.size()}},
                        static_cast<std::int32_t>(lost_after.count()));
  REQUIRE(somebody.receive_connected().id == credentials.id);

  REQUIRE(eventually([&] { return session.state() == SessionState::expired; }));
  const Client observer = make_client(server, timeout);
  REQUIRE(exists(connected_session(observer), "/mine"));
  const int closes = proxy.requests(Opcode::close_session);
  proxy.accept_again();
  CHECK(eventually([&] { return !exists(observer.session(), "/mine"); }));
  CHECK(proxy.requests(Opcode::close_session) > closes);
  CHECK(client.wait_connected(10s));
  CHECK(client.session().id() != credentials.id);
}
