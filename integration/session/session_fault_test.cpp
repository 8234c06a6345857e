// Faults of servers and callers, and zklock's answer to each. The numbers in brackets are those of docs/faults.md.
#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/forgetful_server.hpp"
#include "support/operations.hpp"
#include "support/ports.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <mutex>

using namespace zklock;
using namespace zklock::test;

namespace {

constexpr std::chrono::milliseconds timeout = session_timeout;

Client client_of(const std::string& servers, std::chrono::milliseconds wanted = timeout) {
  return Client{{.connect_string = servers, .session_timeout = wanted}};
}

std::tuple<error_code, CreateResult> create(const Session& session, const std::string& path,
                                            NodeOptions options = CreateMode::persistent) {
  return outcome_of_operation<CreateResult>(
      [&](auto token) { session.async_create(path, "", std::move(options), std::move(token)); });
}

/// Restarts the server with an empty disk, as an operator might.
void wipe(testing::TestServer& server) {
  server.kill();
  std::vector<std::filesystem::path> data;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{server.directory()})
    if (entry.path().filename() == "version-2") data.push_back(entry.path());
  REQUIRE_FALSE(data.empty());
  for (const auto& directory : data) std::filesystem::remove_all(directory);
  server.start();
}

}  // namespace

// ---- the end of sessions

TEST_CASE("servers that have lost their data cost the session, and the next one starts from nothing",
          "[faults]") {  // [F52] [F41]
  testing::TestServer server;
  Client client = client_of(server.connect_string(), 5s);
  const Session session = connected_session(client);
  for (const char* node : {"/a", "/b", "/c"}) REQUIRE_FALSE(std::get<0>(create(session, node)));
  std::mutex mutex;
  std::vector<std::pair<ConnectionState, ConnectionState>> told;  // and the client's state meanwhile
  const StateSubscription subscription = client.subscribe([&](ConnectionState state) {
    const std::lock_guard lock{mutex};
    told.emplace_back(state, client.state());
  });
  wipe(server);
  CHECK(eventually([&] { return session.state() == SessionState::expired; }));
  CHECK(eventually([&] { return !sync(client.session()); }));
  CHECK_FALSE(client.session() == session);
  CHECK_FALSE(exists(client.session(), "/a"));
  CHECK_FALSE(std::get<0>(create(client.session(), "/a")));
  REQUIRE(eventually([&] {
    const std::lock_guard lock{mutex};
    return told.size() == 4;
  }));
  const std::lock_guard lock{mutex};
  using enum ConnectionState;
  const std::vector expected{connected, suspended, lost, reconnected};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(told[i].first == expected[i]);
    // The client's state is never behind the state that it reports; it may be ahead, if the next state has come
    // already.
    CHECK(std::find(expected.begin() + static_cast<std::ptrdiff_t>(i), expected.end(), told[i].second) !=
          expected.end());
  }
}

TEST_CASE("a server that answers with another session has ended the client's session", "[faults]") {  // [F53]
  ForgetfulServer server{60s};  // so it is not the client's own clock that ends the session
  Client client = client_of(server.address(), 60s);
  const Session session = connected_session(client);
  CHECK(session.id() == 1);
  server.hang_up();
  CHECK(eventually([&] { return session.state() == SessionState::expired; }));
  CHECK(eventually([&] { return client.session().state() == SessionState::connected; }));
  CHECK(client.session().id() > 2);
  client.abort();  // the server would not answer a close
}

TEST_CASE("the session timeout that counts is the one that the servers grant") {                 // [F54]
  CHECK(connected_session(client_of(shared_server().connect_string(), 100ms)).timeout() == 1s);  // two ticks
  CHECK(connected_session(client_of(shared_server().connect_string(), 10min)).timeout() == 10s);
  CHECK(connected_session(client_of(shared_server().connect_string(), 3s)).timeout() == 3s);
}

TEST_CASE("a hundred waits on a session are each told of its end, once", "[faults]") {  // [F58]
  testing::TestServer server;
  const Client client = client_of(server.connect_string());
  const Session session = connected_session(client);
  std::vector<Watch> watches(100);
  std::vector<Pending<WatchEvent>> waiting(watches.size());
  for (std::size_t i = 0; i < watches.size(); ++i) {
    watches[i] = std::get<2>(outcome_of_operation<std::optional<Stat>, Watch>(
        [&](auto token) { session.async_exists_and_watch("/" + std::to_string(i / 2), std::move(token)); }));
    watches[i].async_wait(waiting[i].handler());
  }
  const SessionCredentials credentials = session.credentials();
  server.end_session(credentials.id, {credentials.password.data(), credentials.password.size()});
  for (auto& each : waiting) CHECK(std::get<0>(each.get()) == Error::session_expired);
  CHECK_FALSE(sync(connected_session(client)));
  for (auto& each : waiting) CHECK(each.completions() == 1);
  CHECK(server.monitor("zk_watch_count") == 0);
}

// ---- many clients and slow handlers

namespace {

bool run_until(asio::io_context& context, const std::function<bool()>& condition) {
  return eventually([&] {
    context.run_for(2ms);
    return condition();
  });
}

}  // namespace

TEST_CASE("fifty clients without a server do not hammer its port", "[faults]") {  // [F81]
  const SlammingPort slamming;
  asio::io_context context;
  std::vector<Client> clients;
  for (int i = 0; i < 50; ++i)
    clients.emplace_back(context.get_executor(),
                         ClientConfig{.connect_string = slamming.address(), .session_timeout = 6s});
  context.run_for(2s);  // by then the pauses have grown
  const auto begin = Clock::now();
  const int before = slamming.connections();
  // Each client waits for 0.3 s to 0.6 s, so six attempts of each take 1.5 s or more; the C client alone, for 0.1 s.
  REQUIRE(run_until(context, [&] { return slamming.connections() >= before + 6 * 50; }));
  CHECK(Clock::now() - begin > 1s);
}

namespace {

std::vector<Client> fleet(asio::io_context& context, std::size_t size, const ClientConfig& config) {
  std::vector<Client> clients;
  while (clients.size() < size) clients.emplace_back(context.get_executor(), config);
  return clients;
}

}  // namespace

TEST_CASE("of two servers each gets half of a fleet", "[faults]") {  // [F118]
  constexpr std::size_t size = 400;
  const ForgetfulServer one;
  const ForgetfulServer two;
  for (std::size_t connected = 100; connected <= size; connected += 100) {
    asio::io_context context;
    auto clients = fleet(context, 100, {.connect_string = one.address() + "," + two.address()});
    REQUIRE(run_until(context,
                      [&] { return static_cast<std::size_t>(one.connections() + two.connections()) >= connected; }));
    for (Client& client : clients) client.abort();
  }
  // Five times the standard deviation. A list with one server twice would give that server two thirds.
  CHECK(std::abs(one.connections() - static_cast<int>(size / 2)) <= 50);
}

TEST_CASE("a fleet whose server hangs up does not come back all at once", "[faults]") {  // [F81]
  constexpr int size = 30;
  ForgetfulServer server;
  asio::io_context context;
  const auto clients = fleet(context, size, {.connect_string = server.address(), .reconnect_jitter = 1s});
  REQUIRE(run_until(context, [&] { return server.connections() >= size; }));
  const auto begin = std::chrono::steady_clock::now();
  server.hang_up();
  // Each client connects once for its session, which the server has forgotten, and at once for a new one.
  REQUIRE(run_until(context, [&] { return server.connections() >= size + 4 * size / 3; }));
  CHECK(std::chrono::steady_clock::now() - begin > 250ms);
  REQUIRE(run_until(context, [&] { return server.connections() >= 3 * size; }));
}

TEST_CASE("a server that refuses a further client is asked until it accepts it", "[faults]") {  // [F112]
  testing::TestServer server{{.jvm_options = {"-Dzookeeper.maxCnxns=1"}}};
  Client first = client_of(server.connect_string());
  REQUIRE(first.wait_connected(10s));
  const Client second = client_of(server.connect_string());
  CHECK_FALSE(second.wait_connected(300ms));
  CHECK(first.state() == ConnectionState::connected);
  first.close();
  CHECK(second.wait_connected(10s));
}

TEST_CASE("a slow handler stops no heartbeat", "[faults]") {  // [F90]
  const Client client = client_of(shared_server().connect_string(), 10s);
  const Session session = connected_session(client);
  StateStream states = client.states();
  const auto next = [&](Pending<ConnectionState>& pending) { states.async_next(pending.handler()); };
  Pending<ConnectionState> now;
  next(now);
  CHECK(std::get<1>(now.get()) == ConnectionState::connected);
  std::promise<void> release;
  Pending<> slow;
  session.async_sync("/", [handler = slow.handler(), wait = release.get_future()](error_code error) mutable {
    wait.wait();
    handler(error);
  });
  CHECK_FALSE(eventually([&] { return is_final(session.state()); }, 11s));
  release.set_value();
  CHECK_FALSE(std::get<0>(slow.get()));
  CHECK(eventually([&] { return !sync(session); }));  // a slow machine may have lost the link, not the session
}

// ---- names and permissions

TEST_CASE("a chroot is added once and taken off once, for any path") {  // [F104]
  const Client plain = client_of(shared_server().connect_string());
  const Session outside = connected_session(plain);
  for (const char* node : {"/r", "/r/r"}) {
    const error_code error = std::get<0>(create(outside, node));
    REQUIRE((!error || error == Error::node_exists));
  }
  for (const std::string chroot : {"", "/r", "/r/r"}) {
    const Client client = client_of(shared_server().connect_string() + chroot);
    const Session session = connected_session(client);
    const std::string top = "/r" + std::to_string(chroot.size());
    for (const std::string& path : {top, top + "/r", top + "/r/r", top + "/r/r/rr", top + "/rr"}) {
      CAPTURE(chroot, path);
      const auto [error, node] = create(session, path);
      CHECK_FALSE(error);
      CHECK(node.path == path);
      CHECK(exists(outside, chroot + path));
      CHECK(exists(session, path));
    }
  }
}

TEST_CASE("a chroot that does not exist is made with the first lock below it, and by nothing else") {  // [F105]
  testing::TestServer server;
  const Client plain = client_of(server.connect_string());
  const Client client = client_of(server.connect_string() + "/a/b");
  const Session outside = connected_session(plain);
  CHECK(std::get<0>(create(connected_session(client), "/node")) == Error::no_node);
  CHECK_FALSE(exists(outside, "/a"));
  const InterProcessMutex mutex{client, "/lock"};
  const Lease lease = acquire(mutex);
  CHECK(exists(outside, "/a/b" + lease.node_path()));
}

TEST_CASE("a waiter that may not read its predecessor gets an error, and leaves the wait queue") {  // [F106]
  testing::TestServer server;
  const auto client_as = [&](const std::string& who) {
    return Client{
        {.connect_string = server.connect_string(),
         .session_timeout = timeout,
         .auth = {{"digest", who + ":secret"}},
         .acl_provider = [](const std::string& path) { return path == "/l" ? open_acl() : creator_all_acl(); }}};
  };
  const Client one = client_as("one");
  const Client other = client_as("other");
  const InterProcessMutex mine{one, "/l"};
  const InterProcessMutex theirs{other, "/l"};
  Lease lease = acquire(mine);
  CHECK(std::get<0>(outcome_of_operation<Lease>([&](auto token) { theirs.async_acquire(std::move(token)); })) ==
        Error::no_auth);
  CHECK(eventually([&] { return children_of(connected_session(one), "/l").size() == 1; }));
  CHECK(lease.is_held());
  CHECK_FALSE(std::get<0>(outcome_of_operation<>([&](auto token) { lease.async_release(std::move(token)); })));
  CHECK(acquire(theirs).is_held());
}

TEST_CASE("a holder that may not delete its node gets an error, and closing its client frees the lock") {  // [F107]
  testing::TestServer server;
  Client client = client_of(server.connect_string());
  const Client observing = client_of(server.connect_string());
  const Acl no_deletes{{Permission::read | Permission::write | Permission::create, "world", "anyone"}};
  REQUIRE_FALSE(std::get<0>(create(connected_session(observing), "/l", {CreateMode::persistent, no_deletes})));
  const InterProcessMutex mutex{client, "/l"};
  Lease lease = acquire(mutex);
  const error_code error =
      std::get<0>(outcome_of_operation<>([&](auto token) { lease.async_release(std::move(token)); }));
  CHECK(error == Error::no_auth);
  CHECK(children_of(observing.session(), "/l").size() == 1);
  client.close();
  CHECK(eventually([&] { return children_of(observing.session(), "/l").empty(); }));
}

// ---- what Asio's users expect

TEST_CASE("a client and its executor may be destroyed at any time, with the operations under way",
          "[faults]") {  // [F137]
  testing::TestServer server;
  for (int round = 0; round < 30; ++round) {
    CAPTURE(round);
    const auto handlers = std::make_shared<int>();
    {
      asio::io_context context;
      const Client client{context.get_executor(),
                          {.connect_string = server.connect_string(), .session_timeout = timeout}};
      const InterProcessMutex mutex{client, "/lock"};
      mutex.async_acquire([handlers](error_code, Lease) {});
      client.async_get_data("/", [handlers](error_code, DataResult) {});
      client.async_session([handlers](error_code, Session) {});
      client.states().async_next([handlers](error_code, ConnectionState) {});
      context.run_for(round * 2ms);
    }
    CHECK(handlers.use_count() == 1);
  }
}

TEST_CASE("an exception of a handler leaves run(), and the client goes on") {  // [F141]
  asio::io_context context;
  const Client client{context.get_executor(),
                      {.connect_string = shared_server().connect_string(), .session_timeout = timeout}};
  Session session;
  client.async_session([&](error_code, Session connected) { session = std::move(connected); });
  const auto run_until = [&](const auto& condition) {
    for (int i = 0; i < 1'000 && !condition(); ++i) context.run_for(10ms);
    return condition();
  };
  REQUIRE(run_until([&] { return static_cast<bool>(session); }));
  int answers = 0;
  const auto count = [&](error_code error) { answers += error ? 0 : 10; };
  SECTION("between two replies, on the I/O executor") {
    const auto inside = [&](auto handler) { return asio::bind_executor(client.get_executor(), handler); };
    for (int i = 0; i < 3; ++i) {
      // All in one batch: replies behind the handler that throws are delivered all the same, without another reply.
      session.async_sync("/", inside([&](error_code) { throw ++answers; }));
      session.async_remove("no path", inside([&](error_code) { throw ++answers; }));
      session.async_sync("/", inside(count));
      CHECK_THROWS_AS(run_until([] { return false; }), int);
      CHECK_THROWS_AS(run_until([] { return false; }), int);
    }
    CHECK(run_until([&] { return answers == 36; }));
  }
  SECTION("on the executor of the client") {
    for (int i = 0; i < 3; ++i) {
      session.async_sync("/", [&](error_code) { throw ++answers; });
      session.async_sync("/", count);
      CHECK_THROWS_AS(run_until([] { return false; }), int);
    }
    CHECK(run_until([&] { return answers == 33; }));
  }
  session.async_sync("/", count);
  CHECK(run_until([&, before = answers] { return answers == before + 10; }));
}

TEST_CASE("operations that start each other do not grow the stack") {  // [F98]
  const Client client = client_of(shared_server().connect_string());
  const Session session = connected_session(client);
  Watch watch;
  {
    const std::string path = fresh_path();
    auto [error, stat, set] = outcome_of_operation<std::optional<Stat>, Watch>(
        [&](auto token) { session.async_exists_and_watch(path, std::move(token)); });
    REQUIRE_FALSE(error);
    watch = std::move(set);
    REQUIRE_FALSE(test::create(client, path, "", CreateOptions{CreateMode::persistent}.creating_parents()));
  }
  // Each completes without a reply of the server, on the thread that starts it.
  using Next = std::function<void()>;
  const auto then = [&](Next next) {
    return asio::bind_executor(session.get_executor(), [next = std::move(next)](error_code, auto&&...) { next(); });
  };
  const std::vector<std::pair<std::string, std::function<void(const Next&)>>> instant{
      {"a request that is refused", [&](const Next& next) { session.async_remove("no path", then(next)); }},
      {"waiting for the session that is there", [&](const Next& next) { client.async_session(then(next)); }},
      {"a watch that has fired", [&](const Next& next) { watch.async_wait(then(next)); }},
      {"a state that is known",
       [&](const Next& next) {
         auto states = std::make_shared<SessionStateStream>(session.states());
         states->async_next(then([states, next] { next(); }));
       }},
  };
  const auto& each = instant[GENERATE(range(std::size_t{0}, std::size_t{4}))];
  CAPTURE(each.first);
  std::promise<void> done;
  std::uintptr_t lowest = UINTPTR_MAX;
  std::uintptr_t highest = 0;
  int left = 5'000;
  Next next = [&] {
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    lowest = std::min(lowest, here);
    highest = std::max(highest, here);
    if (--left == 0) return done.set_value();
    each.second(next);
  };
  each.second(next);
  REQUIRE(done.get_future().wait_for(60s) == std::future_status::ready);
  CHECK(highest - lowest < 20'000);
}
