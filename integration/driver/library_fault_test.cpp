// Faults of the C client, provoked, and zklock's answer to each. The numbers in brackets are those of docs/faults.md.
#include "support/catch.hpp"
#include "support/failing_send.hpp"
#include "support/fixture.hpp"
#include "support/frame_proxy.hpp"

#include <zklock/timer.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>
#include <thread>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace zklock;
using namespace zklock::test;

namespace {

error_code create(const Session& session, const std::string& path, const std::string& data = "",
                  CreateMode mode = CreateMode::persistent) {
  return std::get<0>(outcome_of_operation<CreateResult>(
      [&](auto token) { session.async_create(path, data, mode, std::move(token)); }));
}

error_code set_data(const Session& session, const std::string& path, const std::string& data) {
  return std::get<0>(
      outcome_of_operation<Stat>([&](auto token) { session.async_set_data(path, data, std::move(token)); }));
}

ConnectionState next(StateStream& states) {
  return std::get<1>(outcome_of_operation<ConnectionState>([&](auto token) { states.async_next(std::move(token)); }));
}

Client client_of(const std::string& servers) {
  return Client{{.connect_string = servers, .session_timeout = session_timeout}};
}

}  // namespace

// ---- sends that fail

TEST_CASE("a connection that the C client loses without an event costs the link, and pending requests are ambiguous",
          "[faults]") {  // [F117]
  testing::TestServer server;
  const Client client = client_of(server.connect_string());
  const Client observing = make_client(server);  // it is to be connected still when the server goes on
  const Session session = connected_session(client);
  const Session observer = connected_session(observing);
  const auto id = session.id();
  const auto connection = session.connection();
  StateStream states = client.states();
  REQUIRE(next(states) == ConnectionState::connected);

  server.pause();
  Pending<CreateResult> first;
  Pending<CreateResult> second;
  Pending<CreateResult> third;
  std::atomic<std::uint64_t> connection_at_reply{connection};
  std::optional<FailingSend> fault;
  asio::post(session.get_executor(), [&] {
    session.async_create("/first", "", CreateMode::persistent, first.handler());
    fault.emplace(server.port(), FailingSend::Where{});
    session.async_create("/second", "", CreateMode::persistent, second.handler());
    auto heard = [&, told = third.handler()](error_code error, CreateResult made) mutable {
      connection_at_reply = session.connection();
      told(error, std::move(made));
    };
    session.async_create("/third", "", CreateMode::persistent,
                         asio::bind_executor(session.get_executor(), std::move(heard)));
  });
  CHECK(next(states) == ConnectionState::suspended);
  server.resume();
  for (auto* request : {&first, &second}) {
    const error_code error = std::get<0>(request->get());
    CHECK(error == Error::runtime_inconsistency);
    CHECK(outcome_of(error) == Outcome::ambiguous);
    CHECK(request->completions() == 1);
  }
  CHECK(fault->has_failed());
  // A reply that comes after the loss finds another connection, whether its request was sent before or not.
  CHECK(std::get<0>(third.get()));
  CHECK(connection_at_reply != connection);
  CHECK(session.connection() != connection);
  // Whatever the C client reports, the second one is done, on the next connection. So is the first one, unless the
  // server closes the old connection, since the session has come back, before it has read it.
  CHECK(eventually([&] { return exists(observer, "/second"); }));
  CHECK(next(states) == ConnectionState::reconnected);
  CHECK(eventually([&] { return !sync(session); }));
  CHECK(session.id() == id);
}

TEST_CASE("a frame that was half sent when its connection was lost costs only one more connection",
          "[faults]") {  // [F136]
  testing::TestServer server;
  const Client client = client_of(server.connect_string());
  const Session session = connected_session(client);
  const auto id = session.id();
  REQUIRE_FALSE(create(session, "/a"));
  const int after = GENERATE(0, 1);  // the C client sends the frame's length by itself
  CAPTURE(after);
  const auto connections = server.monitor("zk_connection_request_count");
  const FailingSend fault{server.port(), {.after = after, .half = true}};
  const error_code error = set_data(session, "/a", std::string(1'000, 'x'));
  CHECK(fault.has_failed());
  CHECK((!error || outcome_of(error) == Outcome::ambiguous));
  CHECK(eventually([&] { return !sync(session); }));
  CHECK(server.monitor("zk_connection_request_count") == connections + 1);
  CHECK(session.id() == id);
  CHECK_FALSE(set_data(session, "/a", "y"));
}

TEST_CASE("no send to a connection that is gone raises SIGPIPE", "[faults]") {  // [F96]
  struct sigaction action {};
  REQUIRE(::sigaction(SIGPIPE, nullptr, &action) == 0);
  REQUIRE(action.sa_handler == SIG_DFL);
  testing::TestServer server;
  const FailingSend watching{server.port(), {.after = 1'000'000}};
  const Client client = client_of(server.connect_string());
  const Session session = connected_session(client);
  server.kill();
  for (int i = 0; i < 100; ++i) static_cast<void>(sync(session));
  CHECK(watching.with_signals() == 0);
}

// ---- signals and other programs

namespace {

std::set<int> threads() {
  std::set<int> ids;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/task"})
    ids.insert(std::stoi(entry.path().filename().string()));
  return ids;
}

/// The number of sockets, and of other anonymous files, that a program started now inherits from the test.
std::size_t inherited_by_a_program() {
  std::FILE* const list = ::popen("readlink /proc/self/fd/*", "r");
  REQUIRE(list);
  std::size_t count = 0;
  for (char line[256]; std::fgets(line, sizeof line, list);)
    if (std::string_view{line}.starts_with("socket:") || std::string_view{line}.starts_with("anon_inode:")) ++count;
  ::pclose(list);
  return count;
}

}  // namespace

TEST_CASE("signals do not keep the end of a session from its server", "[faults]") {  // [F97]
  constexpr std::chrono::milliseconds long_timeout{60'000};  // so it is not the server that ends the session
  testing::TestServer server{{.tick = 5s}};
  const Client observing = make_client(server, long_timeout);
  const Session observer = connected_session(observing);
  REQUIRE_FALSE(create(observer, "/a"));
  // A signal handler that interrupts each system call that waits.
  struct sigaction interrupting {};
  interrupting.sa_handler = [](int) {};
  struct sigaction before {};
  REQUIRE(::sigaction(SIGUSR1, &interrupting, &before) == 0);

  asio::io_context context;
  auto work = asio::make_work_guard(context);
  Client client{context.get_executor(), {.connect_string = server.connect_string(), .session_timeout = long_timeout}};
  std::thread loop{[&] { context.run(); }};
  const Session session = connected_session(client);
  REQUIRE_FALSE(create(session, "/mine", "", CreateMode::ephemeral));
  server.pause();
  std::vector<Pending<Stat>> writes(16);  // more than the sockets' buffers hold
  for (auto& write : writes) session.async_set_data("/a", std::string(1'000'000, 'x'), write.handler());
  const std::set<int> others = threads();
  Pending<> closed;
  client.async_close(closed.handler());
  int signals = 0;
  CHECK(eventually([&] {
    for (const int thread : threads())
      if (!others.contains(thread) && ::syscall(SYS_tgkill, ::getpid(), thread, SIGUSR1) == 0) ++signals;
    return signals >= 30;
  }));
  server.resume();
  CHECK_FALSE(std::get<0>(closed.get()));
  CHECK(eventually([&] { return !sync(observer) && !exists(observer, "/mine"); }));
  work.reset();
  loop.join();
  ::sigaction(SIGUSR1, &before, nullptr);
}

TEST_CASE("a program that is started inherits none of a client's descriptors") {  // [F95]
  auto& server = shared_server();
  const std::size_t before = inherited_by_a_program();
  const Client client = client_of(server.connect_string());
  REQUIRE_FALSE(sync(connected_session(client)));
  CHECK(inherited_by_a_program() == before);
}

// ---- reconnecting

TEST_CASE("a client reconnects a hundred times, on few socket numbers, and gets replies each time",
          "[faults]") {  // [F122]
  testing::TestServer server;
  FrameProxy proxy{server.port()};
  const Client client{{.connect_string = proxy.address(), .session_timeout = 6s}};
  const Session session = connected_session(client);
  const auto port = static_cast<std::uint16_t>(std::stoi(proxy.address().substr(proxy.address().rfind(':') + 1)));
  std::set<int> numbers;
  for (int round = 0; round < 100; ++round) {
    proxy.cut();
    REQUIRE(eventually([&] { return !sync(session); }));
    for (int number = 0; number < 256; ++number) {
      sockaddr_in peer{};
      socklen_t size = sizeof peer;
      if (::getpeername(number, reinterpret_cast<sockaddr*>(&peer), &size) == 0 && ntohs(peer.sin_port) == port)
        numbers.insert(number);
    }
  }
  CHECK(proxy.connections() > 100);  // a connection that is lost without an event costs another one [F117]
  CHECK(numbers.size() < 10);
}

TEST_CASE("as many watches as are allowed are set again after a lost link", "[faults]") {  // [F101]
  testing::TestServer server;
  FrameProxy proxy{server.port()};
  const Client client = client_of(proxy.address());
  const Client observing = client_of(server.connect_string());
  const Session session = connected_session(client);
  const Session observer = connected_session(observing);
  const std::string base = "/" + std::string(4'000, 'w');
  std::vector<Watch> watches;
  for (int i = 0; i < 130; ++i)  // 512 KiB is the limit
    watches.push_back(std::get<2>(outcome_of_operation<std::optional<Stat>, Watch>(
        [&](auto token) { session.async_exists_and_watch(base + std::to_string(i), std::move(token)); })));
  CHECK(server.monitor("zk_watch_count") == 130);
  proxy.cut();
  CHECK(eventually([&] { return proxy.connections() == 2 && server.monitor("zk_watch_count") == 130; }));
  CHECK(proxy.connections() == 2);
  Pending<WatchEvent> event;
  watches.back().async_wait(event.handler());
  REQUIRE_FALSE(create(observer, base + "129"));
  CHECK(std::get<1>(event.get()).type == WatchEventType::node_created);
}

TEST_CASE("a watch whose removal is lost with the link is not set again, although its place is being read meanwhile",
          "[faults]") {  // [F133]
  testing::TestServer server;
  FrameProxy proxy{server.port()};
  const Client client = client_of(proxy.address());
  const Session session = connected_session(client);
  const auto watch = [&](auto token) { session.async_exists_and_watch("/a", std::move(token)); };
  Watch given_up = std::get<2>(outcome_of_operation<std::optional<Stat>, Watch>(watch));
  REQUIRE(server.monitor("zk_watch_count") == 1);
  proxy.hold(Direction::replies);
  given_up = {};
  Pending<std::optional<Stat>, Watch> reading;
  watch(reading.handler());
  REQUIRE(
      eventually([&] { return proxy.requests(Opcode::remove_watches) == 1 && proxy.requests(Opcode::exists) == 2; }));
  proxy.cut();
  CHECK(std::get<0>(reading.get()) == Error::connection_loss);
  CHECK_FALSE(sync(connected_session(client)));
  CHECK(proxy.connections() == 2);
  CHECK(eventually([&] { return server.monitor("zk_watch_count") == 0; }));  // the lost connection's goes, too
}

TEST_CASE("a session of which nothing is asked but to give watches up lives on", "[faults]") {
  constexpr std::chrono::milliseconds timeout{6'000};
  const Client client{{.connect_string = shared_server().connect_string(), .session_timeout = timeout}};
  const Session session = connected_session(client);
  std::vector<Watch> watches;
  for (int i = 0; i < 80; ++i)
    watches.push_back(std::get<2>(outcome_of_operation<std::optional<Stat>, Watch>(
        [&](auto token) { session.async_exists_and_watch("/given-up" + std::to_string(i), std::move(token)); })));
  zklock::Timer pace{session.get_executor()};
  const auto begin = Clock::now();
  const auto contact = [&] { return client.health().sessions.at(0).last_contact.value_or(begin); };
  while (!watches.empty() && contact() < begin + timeout) {
    watches.pop_back();
    pace.expires_after(timeout / 12);
    outcome_of_operation<>([&](auto token) { pace.async_wait(std::move(token)); });
  }
  CHECK(contact() >= begin + timeout);
  CHECK(client.session() == session);
  CHECK(session.state() == SessionState::connected);
}

TEST_CASE("changes of watched nodes while the link is down are reported when it is back", "[faults]") {  // [F103]
  testing::TestServer server;
  FrameProxy proxy{server.port()};
  const Client client = client_of(proxy.address());
  const Client observing = client_of(server.connect_string());
  const Session session = connected_session(client);
  const Session observer = connected_session(observing);
  REQUIRE_FALSE(create(observer, "/a"));
  auto [read, data, of_data] = outcome_of_operation<DataResult, Watch>(
      [&](auto token) { session.async_get_data_and_watch("/a", std::move(token)); });
  auto [listed, list, of_children] = outcome_of_operation<ChildrenResult, Watch>(
      [&](auto token) { session.async_get_children_and_watch("/a", std::move(token)); });
  Pending<WatchEvent> changed;
  Pending<WatchEvent> children;
  of_data.async_wait(changed.handler());
  of_children.async_wait(children.handler());
  proxy.refuse();
  proxy.cut();
  REQUIRE_FALSE(set_data(observer, "/a", "new"));
  proxy.accept_again();
  CHECK(std::get<1>(changed.get()).type == WatchEventType::node_data_changed);
  CHECK_FALSE(sync(session));
  CHECK_FALSE(children.ready());  // so waiters use a watch of this kind [F24]
  REQUIRE_FALSE(create(observer, "/a/b"));
  CHECK(std::get<1>(children.get()).type == WatchEventType::node_children_changed);
}
