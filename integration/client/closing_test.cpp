// Closing a client that has lost its link, or loses it while it closes: its session ends all the same.
#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/frame_proxy.hpp"
#include "support/ports.hpp"

#include <atomic>
#include <functional>
#include <optional>
#include <thread>

using namespace zklock;
using namespace zklock::test;

namespace {

/// A client behind a proxy, with an ephemeral node; and a second client that observes.
struct Fixture {
  testing::TestServer& server = shared_server();
  FrameProxy proxy{server.port()};
  std::string node = "/closing-";
  std::optional<Client> client{ClientConfig{.connect_string = proxy.address(), .session_timeout = 10s}};
  const Session session = connected_session(*client);
  const Client observing = make_client(server);
  const Session observer = connected_session(observing);

  Fixture() {
    const auto [error, created] = outcome_of_operation<CreateResult>(
        [&](auto token) { session.async_create(node, "", CreateMode::ephemeral_sequential, std::move(token)); });
    REQUIRE_FALSE(error);
    node = created.path;
  }

  void cut_the_link() {
    proxy.refuse();
    proxy.cut();
    REQUIRE(eventually([&] { return session.state() == SessionState::suspended; }));
  }
  [[nodiscard]] bool node_is_there() const {
    CHECK_FALSE(sync(observer));
    return exists(observer, node);
  }
};

/// Whether an action ends within half a second. A close that was not cut short would take five.
bool ends_at_once(const std::function<void()>& action) {
  std::atomic<bool> ended{false};
  const std::jthread thread{[&] {
    action();
    ended = true;
  }};
  return eventually([&] { return ended.load(); }, 500ms);
}

}  // namespace

TEST_CASE_METHOD(Fixture, "a client that is closed while it has no link finds a server, and leaves no node",
                 "[faults]") {
  cut_the_link();
  SECTION("by its destructor") {
    std::thread healer{[&] {
      static_cast<void>(eventually([&] { return session.state() == SessionState::closed; }));
      proxy.accept_again();
    }};
    client.reset();
    healer.join();
  }
  SECTION("by async_close") {
    Pending<> closed;
    client->async_close(closed.handler());
    CHECK_FALSE(closed.ready(100ms));
    proxy.accept_again();
    CHECK_FALSE(std::get<0>(closed.get()));
  }
  CHECK_FALSE(node_is_there());
}

TEST_CASE_METHOD(Fixture, "a client whose link is cut while it closes has ended its session when it is closed",
                 "[faults]") {
  const auto point = GENERATE(CutPoint::before_request, CutPoint::inside_request, CutPoint::after_request,
                              CutPoint::before_reply, CutPoint::inside_reply);
  const auto manner = GENERATE(CutManner::orderly, CutManner::reset);
  CAPTURE(static_cast<int>(point), static_cast<int>(manner));
  proxy.cut_at({.opcode = Opcode::close_session, .point = point, .manner = manner});
  client->close();
  CHECK(proxy.cuts() == 1);
  CHECK_FALSE(node_is_there());
}

TEST_CASE_METHOD(Fixture, "closing without a link looks for a server for some seconds, and then ends", "[faults]") {
  cut_the_link();
  SECTION("no server is found: the node stays until the session timeout has passed") {
    const auto start = Clock::now();
    client->close();
    CHECK(Clock::now() - start > 4s);
    CHECK(node_is_there());
  }
  SECTION("a server takes the connection and says nothing") {
    proxy.hold(Direction::replies);
    proxy.accept_again();
    client->close();
  }
}

TEST_CASE_METHOD(Fixture, "abort ends a close at once", "[timing]") {
  const bool has_link = GENERATE(false, true);
  if (has_link) {
    proxy.hold(Direction::replies);
  } else {
    cut_the_link();
  }
  Pending<> closed;
  client->async_close(closed.handler());
  CHECK_FALSE(closed.ready(100ms));
  CHECK(ends_at_once([&] {
    client->abort();
    static_cast<void>(closed.get());
  }));
  if (!has_link) CHECK(node_is_there());
}

TEST_CASE("a client that has never been connected closes at once", "[timing]") {
  const RefusingPort refusing;
  const SilentPort silent;
  for (const std::string& server : {refusing.address(), silent.address()}) {
    std::optional<Client> client{ClientConfig{.connect_string = server}};
    CHECK(ends_at_once([&] { client.reset(); }));
  }
}
