// The loop over the C client: servers that refuse, hang, stop, are killed and come back. The numbers in brackets are
// those of docs/faults.md.
#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/frame_proxy.hpp"
#include "support/ports.hpp"

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <filesystem>
#include <list>
#include <thread>

using namespace zklock;
using namespace zklock::test;

namespace {

/// A session of servers with long ticks that is to outlive restarts. The longer it lasts, the longer are the pauses
/// between attempts to connect, of which these tests have many.
constexpr std::chrono::milliseconds outlives_restarts{20'000};

Client client_of(const std::string& servers, std::chrono::milliseconds timeout = session_timeout) {
  return Client{{.connect_string = servers, .session_timeout = timeout, .connection_timeout = 20s}};
}

bool reaches(const Client& client, ConnectionState state, std::chrono::milliseconds limit = 45s) {
  return eventually([&] { return client.state() == state; }, limit);
}

std::size_t open_descriptors() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, std::filesystem::directory_iterator{}));
}

}  // namespace

TEST_CASE("a server that refuses, says nothing or cannot be reached does not keep a client from the next one",
          "[faults]") {
  const testing::TestServer server;
  const RefusingPort refusing;
  const SilentPort silent;
  const BlackHolePort black_hole;
  const std::string good = server.connect_string();
  for (const std::string& bad : {refusing.address(), silent.address(), black_hole.address()})
    for (const std::string& list : {bad + "," + good, good + "," + bad, bad + "," + good + "," + bad}) {
      INFO(list);
      const Client client = client_of(list, 12s);
      // Bad servers take 4 s in all, at the most. The C client by itself waits for 2/3 of the session timeout.
      CHECK(reaches(client, ConnectionState::connected, 7s));
    }
}

TEST_CASE("slow servers are given more time, and the session lives on", "[faults]") {  // [F134]
  const testing::TestServer server;
  std::list<FrameProxy> ways;
  std::string list;
  for (int i = 0; i < 5; ++i) list += (i > 0 ? "," : "") + ways.emplace_back(server.port()).address();
  const Client client = client_of(list, 12s);
  const auto id = connected_session(client).id();
  for (FrameProxy& way : ways) way.slow_down(700ms);  // a handshake takes twice that; the limit is 1.2 s at first
  for (FrameProxy& way : ways) way.cut();
  REQUIRE(reaches(client, ConnectionState::suspended));
  CHECK(reaches(client, ConnectionState::reconnected));
  CHECK(client.session().id() == id);
}

TEST_CASE("of two servers, one stopped for good, the other is found again whenever it comes back", "[faults]") {
  testing::TestServer server{{.tick = long_tick}};
  const RefusingPort dead;
  const Client client = client_of(server.connect_string() + "," + dead.address(), outlives_restarts);
  const Session session = connected_session(client);
  for (int round = 0; round < 4; ++round) {
    server.kill();
    REQUIRE(reaches(client, ConnectionState::suspended));
    server.start();
    CHECK(eventually([&] { return !sync(session); }));
  }
}

TEST_CASE("attempts to connect become rarer, and do not stop", "[faults]") {
  const SlammingPort slamming;
  const Client client = client_of(slamming.address(), 6s);
  REQUIRE(eventually([&] { return slamming.connections() >= 3; }));
  CHECK_FALSE(client.wait_connected(2s));
  const auto begin = Clock::now();
  const int before = slamming.connections();
  CHECK(eventually([&] { return slamming.connections() >= before + 10; }));
  CHECK(Clock::now() - begin > 2s);  // each waits for 0.3 s to 0.6 s; the C client alone, for 0.1 s
}

TEST_CASE("a client that finds no server neither spins nor hangs, and its operations end in time", "[faults]") {
  const RefusingPort one;
  const RefusingPort two;
  asio::io_context context;
  const Client client{context.get_executor(),
                      {.connect_string = one.address() + "," + two.address(),
                       .session_timeout = 2s,
                       .connection_timeout = 1s,
                       .retry = RetryNTimes{.n = 0}}};
  const InterProcessMutex mutex{client, "/lock"};
  std::size_t turns = 0;  // of the loop
  const auto ends = [&](auto&&... wait) {
    Pending<Lease> acquiring;
    mutex.async_acquire(wait..., acquiring.handler());
    while (!acquiring.ready()) turns += context.run_one();
    return std::get<0>(acquiring.get());
  };
  const auto start = Clock::now();
  CHECK(ends() == Error::not_connected);
  CHECK(Clock::now() - start >= 1s);
  CHECK(ends(200ms) == Error::not_connected);
  CHECK(client.state() == ConnectionState::connecting);
  CAPTURE(turns);
  CHECK(turns < 1'000);  // a loop that spins has tens of thousands
}

TEST_CASE("without a ZooKeeper server the exception names the servers, the time and the cause", "[faults]") {
  const RefusingPort refusing;
  const SilentPort silent;
  struct Case {
    std::string servers;
    std::string cause;
  };
  for (const Case& each : {Case{refusing.address(), "Connection refused"}, Case{silent.address(), "is it a ZooKeeper"},
                           Case{"no-such-host.invalid:2181", "no address is known"}}) {
    CAPTURE(each.servers);
    const Client client{{.connect_string = each.servers, .session_timeout = 2s, .connection_timeout = 1500ms}};
    InterProcessMutex mutex{client, "/lock"};
    std::string text;
    try {
      mutex.acquire();
    } catch (const boost::system::system_error& error) {
      CHECK(error.code() == Error::not_connected);
      text = error.what();
    }
    CAPTURE(text);
    const std::string time_follows = "no connection to " + each.servers + " for ";
    const auto found = text.find(time_follows);
    REQUIRE(found != std::string::npos);
    CHECK(std::stod(text.substr(found + time_follows.size())) >= 1.5);
    CHECK(text.find(each.cause) != std::string::npos);
    CHECK(text.find("nothing was sent") != std::string::npos);
  }
}

TEST_CASE("the cause of a lost connection is known until another connection fails", "[faults]") {
  const testing::TestServer server;
  FrameProxy way{server.port()};
  const Client client = client_of(way.address(), 20s);
  static_cast<void>(connected_session(client));
  CHECK(client.connection_trouble().empty());
  way.hold(Direction::replies);
  way.cut();
  REQUIRE(reaches(client, ConnectionState::suspended));
  const std::string trouble = client.connection_trouble();
  CAPTURE(trouble);
  CHECK(trouble.find(" s: ") != std::string::npos);
  way.resume(Direction::replies);
  CHECK(reaches(client, ConnectionState::reconnected));
  CHECK(client.connection_trouble().empty());
}

TEST_CASE("one try for a lock at a server that does not answer ends after the connection timeout", "[faults]") {
  testing::TestServer server;
  const Client client{{.connect_string = server.connect_string(), .session_timeout = 20s, .connection_timeout = 1s}};
  static_cast<void>(connected_session(client));
  server.pause();
  InterProcessMutex mutex{client, "/lock"};
  const auto start = std::chrono::steady_clock::now();
  error_code failure;
  try {
    static_cast<void>(mutex.try_lock());
  } catch (const boost::system::system_error& error) {
    failure = error.code();
  }
  CHECK(failure == Error::connection_loss);
  CHECK(std::chrono::steady_clock::now() - start >= 1s);
  server.resume();
}

TEST_CASE("a name that cannot be looked up does not stop a client, nor does it block closing", "[faults]") {
  const testing::TestServer server;
  const Client client = client_of("no-such-host.invalid:2181," + server.connect_string());
  CHECK(client.wait_connected(20s));
  { const Client lost = client_of("no-such-host.invalid:2181"); }
}

TEST_CASE("a client starts before its server does", "[faults]") {
  testing::TestServer server;
  server.stop();
  const Client client = client_of(server.connect_string());
  CHECK_FALSE(client.wait_connected(100ms));
  server.start();
  CHECK(client.wait_connected(10s));
}

TEST_CASE("a server that pauses for less than the session timeout costs the link, not the session", "[faults]") {
  testing::TestServer server;
  const Client client = client_of(server.connect_string());
  const Session session = connected_session(client);
  const std::int64_t id = session.id();
  server.pause();
  Pending<> pending;
  session.async_sync("/", pending.handler());
  REQUIRE(reaches(client, ConnectionState::suspended));
  CHECK(session.state() == SessionState::suspended);
  const error_code error = std::get<0>(pending.get());
  CHECK(is_retryable(error));
  CHECK(outcome_of(error) == Outcome::ambiguous);
  CHECK(std::get<0>(outcome_of_operation<>([&](auto token) { session.async_sync("/", std::move(token)); })) ==
        Error::not_connected);
  server.resume();
  REQUIRE(reaches(client, ConnectionState::reconnected));
  CHECK(client.session() == session);
  CHECK(session.id() == id);
  CHECK_FALSE(sync(session));
}

TEST_CASE("a server that is away for longer than the session timeout costs the session, by the client's clock") {
  testing::TestServer server;
  const Client client = client_of(server.connect_string(), 4s);
  const Session session = connected_session(client);
  StateStream states = client.states();
  Pending<WatchEvent> watching;
  auto [watch_error, list, watch] = outcome_of_operation<ChildrenResult, Watch>(
      [&](auto token) { session.async_get_children_and_watch("/", std::move(token)); });
  watch.async_wait(watching.handler());
  server.pause();  // so it cannot tell the client
  REQUIRE(reaches(client, ConnectionState::lost));
  CHECK(session.state() == SessionState::expired);
  CHECK(std::get<0>(watching.get()) == Error::session_expired);
  CHECK(sync(session) == Error::session_expired);
  server.resume();
  REQUIRE(reaches(client, ConnectionState::reconnected));
  CHECK_FALSE(client.session() == session);
  CHECK_FALSE(sync(client.session()));
  CHECK(sync(session) == Error::session_expired);
  for (const auto expected :
       {ConnectionState::connected, ConnectionState::suspended, ConnectionState::lost, ConnectionState::reconnected})
    CHECK(std::get<1>(outcome_of_operation<ConnectionState>(
              [&](auto token) { states.async_next(std::move(token)); })) == expected);
}

TEST_CASE("a session that the server ends is over as soon as the client is told", "[faults]") {
  testing::TestServer server;
  const Client client = client_of(server.connect_string());
  const Session session = connected_session(client);
  const SessionCredentials credentials = session.credentials();
  server.end_session(credentials.id, {credentials.password.data(), credentials.password.size()});
  CHECK(eventually([&] { return session.state() == SessionState::expired; }));
  CHECK(eventually([&] { return !sync(client.session()); }));
}

TEST_CASE("a server restarted many times is found again each time, on the same session, and nothing leaks",
          "[faults]") {
  testing::TestServer server{{.tick = long_tick}};
  const Client client = client_of(server.connect_string(), outlives_restarts);
  const Session session = connected_session(client);
  outcome_of_operation<CreateResult>(
      [&](auto token) { session.async_create("/mine", "", CreateMode::ephemeral, std::move(token)); });
  auto [error, stat, watch] = outcome_of_operation<std::optional<Stat>, Watch>(
      [&](auto token) { session.async_exists_and_watch("/mine", std::move(token)); });
  Pending<WatchEvent> event;
  watch.async_wait(event.handler());
  std::size_t descriptors = 0;
  for (int round = 0; round < 8; ++round) {
    server.kill();
    std::vector<Pending<>> lost(5);
    for (auto& one : lost) session.async_sync("/", one.handler());
    for (auto& one : lost) CHECK(is_retryable(std::get<0>(one.get())));
    server.start();
    REQUIRE(eventually([&] { return !sync(session); }));
    if (round == 1) descriptors = open_descriptors();
  }
  CHECK(open_descriptors() <= descriptors);
  CHECK_FALSE(event.ready());
  outcome_of_operation<>([&](auto token) { session.async_remove("/mine", std::move(token)); });
  CHECK(std::get<1>(event.get()).type == WatchEventType::node_deleted);
}

TEST_CASE("closing ends although the server does not answer, and each pending operation completes once", "[faults]") {
  testing::TestServer server;
  std::vector<Pending<>> pending(20);
  Pending<WatchEvent> watching;
  Watch watch;
  {
    const Client client = client_of(server.connect_string(), 20s);
    const Session session = connected_session(client);
    watch = std::get<2>(outcome_of_operation<ChildrenResult, Watch>(
        [&](auto token) { session.async_get_children_and_watch("/", std::move(token)); }));
    watch.async_wait(watching.handler());
    server.pause();
    for (auto& one : pending) session.async_sync("/", one.handler());
  }
  for (auto& one : pending) {
    CHECK(std::get<0>(one.get()) == Error::closing);
    CHECK(one.completions() == 1);
  }
  CHECK(std::get<0>(watching.get()) == Error::closing);
}

TEST_CASE("once a client is closed its session is over, though the server was slow", "[faults]") {  // [F125]
  testing::TestServer server;
  const Client observing = client_of(server.connect_string(), 20s);
  const Session observer = connected_session(observing);
  Client client = client_of(server.connect_string(), 20s);
  const Session session = connected_session(client);
  REQUIRE_FALSE(std::get<0>(outcome_of_operation<CreateResult>(
      [&](auto token) { session.async_create("/mine", "", CreateMode::ephemeral, std::move(token)); })));
  server.pause();
  std::vector<Pending<Stat>> writes(10);
  for (auto& write : writes) session.async_set_data("/mine", std::string(100'000, 'x'), write.handler());
  Pending<> closed;
  client.async_close(closed.handler());
  // The C client waits for 1.5 s. If it then closed the socket, the server's first reply would reset the connection.
  CHECK_FALSE(eventually([&] { return closed.completions() > 0; }, 2s));
  server.resume();
  CHECK_FALSE(std::get<0>(closed.get()));
  CHECK_FALSE(sync(observer));
  CHECK_FALSE(exists(observer, "/mine"));
  for (auto& write : writes) CHECK(std::get<0>(write.get()) == Error::closing);
}

TEST_CASE("a client that is closed while replies come in has ended its session when it is closed", "[faults]") {
  testing::TestServer server;
  const Client observing = client_of(server.connect_string(), 20s);
  const Session observer = connected_session(observing);
  int alive = 0;
  for (int round = 0; round < 250; ++round) {
    Client client = client_of(server.connect_string(), 20s);
    const Session session = connected_session(client);
    std::vector<Pending<std::optional<Stat>>> answers(8);
    Pending<CreateResult> made;
    session.async_create("/mine", "", CreateMode::ephemeral, made.handler());
    for (auto& answer : answers) session.async_exists("/mine", answer.handler());
    static_cast<void>(made.get());
    if (round % 2 == 0) static_cast<void>(answers.front().get());
    client.close();
    CHECK_FALSE(sync(observer));
    if (exists(observer, "/mine")) ++alive;
    REQUIRE(eventually([&] { return !exists(observer, "/mine"); }));
  }
  CHECK(alive == 0);
}

TEST_CASE("clients come and go without leaving threads or descriptors behind", "[faults]") {
  const testing::TestServer server;
  {
    const Client warm = client_of(server.connect_string());
    CHECK(warm.wait_connected(10s));
  }
  const std::size_t descriptors = open_descriptors();
  for (int i = 0; i < 40; ++i) {
    const Client client = client_of(server.connect_string());
    if (i % 2) CHECK(client.wait_connected(10s));
  }
  CHECK(eventually([&] { return open_descriptors() <= descriptors; }));
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator{"/proc/self/task"}, std::filesystem::directory_iterator{});
  };
  CHECK(eventually([&] { return threads() <= 2; }));  // the test's, and a sanitizer's
}

TEST_CASE("closing twice, and from several threads at once, closes once", "[faults]") {
  const testing::TestServer server;
  Client client = client_of(server.connect_string());
  const Session session = connected_session(client);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { client.close(); });
  for (std::thread& thread : threads) thread.join();
  client.close();
  CHECK(client.state() == ConnectionState::closed);
  CHECK(session.state() == SessionState::closed);
  CHECK(server.monitor("zk_num_alive_connections") == 1);  // the test's read of the counter
  CHECK(std::get<0>(outcome_of_operation<Session>([&](auto token) { client.async_session(std::move(token)); })) ==
        Error::closed);
  const InterProcessMutex mutex{client, "/lock"};
  CHECK(std::get<0>(outcome_of_operation<Lease>([&](auto token) { mutex.async_acquire(std::move(token)); })) ==
        Error::closed);
  CHECK(sync(session) == Error::closing);
}

TEST_CASE("a client on a given executor may be destroyed while a name is looked up", "[faults]") {
  asio::io_context context;
  { const Client client{context.get_executor(), {.connect_string = "no-such-host.invalid:2181,127.0.0.1:1"}}; }
  context.run_for(5s);
}
