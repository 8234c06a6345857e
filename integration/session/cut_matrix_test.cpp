// Every kind of request, cut at every point: it ends once, by no time-out, with an error that is true of the server's
// tree, and the session goes on.
#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/frame_proxy.hpp"
#include "support/repeats.hpp"
#include "support/request_kinds.hpp"

using namespace zklock;
using namespace zklock::test;

namespace {

const char* to_string(CutPoint point) {
  switch (point) {
    case CutPoint::before_request: return "before the request";
    case CutPoint::inside_request: return "inside the request";
    case CutPoint::after_request: return "after the request";
    case CutPoint::before_reply: return "before the reply";
    case CutPoint::inside_reply: return "inside the reply";
  }
  return "";
}

/// A client whose link can be cut, and an observer whose link is not.
struct Fixture {
  std::chrono::milliseconds timeout;
  testing::TestServer server{{.tick = 1s, .jvm_options = {"-Dzookeeper.extendedTypesEnabled=true"}}};
  FrameProxy proxy{server.port()};
  Client observing = make_client(server);
  Session observer = connected_session(observing);
  Client client{
      {.connect_string = proxy.address(), .session_timeout = timeout, .auth = {{"digest", "somebody:password"}}}};
  Session session = connected_session(client);
  Watch canary;
  Pending<WatchEvent> sung;

  explicit Fixture(std::chrono::milliseconds session_ends_after = session_timeout) : timeout{session_ends_after} {}

  void make(const std::string& path) const {
    REQUIRE_FALSE(std::get<0>(outcome_of_operation<CreateResult>(
        [&](auto token) { observer.async_create(path, "old", CreateMode::persistent, std::move(token)); })));
  }
  /// Makes the node of one case, and a watch that must survive the cut.
  std::string prepare() {
    const std::string path = "/" + std::to_string(++cases_);
    make(path);
    make(path + "/child");
    make(path + "-canary");
    session = connected_session(client);
    id_before_ = session.id();
    auto [error, stat, watch] = outcome_of_operation<std::optional<Stat>, Watch>(
        [&](auto token) { session.async_exists_and_watch(path + "-canary", std::move(token)); });
    REQUIRE_FALSE(error);
    canary = std::move(watch);
    sung = {};
    canary.async_wait(sung.handler());
    return path;
  }

  void goes_on_with_the_same_session(const std::string& path) {
    CHECK(eventually([&] { return session.state() == SessionState::connected; }));
    CHECK(client.session() == session);
    CHECK(session.id() == id_before_);
    outcome_of_operation<>([&](auto token) { observer.async_remove(path + "-canary", std::move(token)); });
    REQUIRE(eventually([&] { return sung.ready(); }));
    const auto [error, event] = sung.get();
    CHECK_FALSE(error);
    CHECK(event.type == WatchEventType::node_deleted);
  }

  void goes_on_with_another_session() {
    const SessionCredentials credentials = session.credentials();
    server.end_session(credentials.id, {credentials.password.data(), credentials.password.size()});
    CHECK(session.state() == SessionState::suspended);
    proxy.accept_again();
    CHECK(eventually([&] { return session.state() == SessionState::expired; }));
    CHECK(eventually([&] { return client.state() == ConnectionState::reconnected; }));
    CHECK_FALSE(client.session() == session);
    CHECK(client.session().id() != id_before_);
    REQUIRE(eventually([&] { return sung.ready(); }));
    CHECK(std::get<0>(sung.get()) == Error::session_expired);
  }

  void try_case(const RequestKind& kind, const Cut& cut) {
    const std::string path = prepare();
    const int cuts = proxy.cuts();
    proxy.cut_at(cut);
    Pending<> pending;
    kind.start(session, path, pending);
    REQUIRE(eventually([&] { return pending.ready(); }));
    CHECK(proxy.cuts() == cuts + 1);

    const error_code error = std::get<0>(pending.get());
    const bool arrived = cut.point == CutPoint::before_reply || cut.point == CutPoint::inside_reply;
    CHECK(error);
    CHECK(is_retryable(error));
    if (kind.applied) {
      const bool applied = kind.applied(observer, path);
      CHECK(applied == arrived);
      if (applied) CHECK(outcome_of(error) == Outcome::ambiguous);
    }

    if (cut.afterwards == Afterwards::refuse) {
      goes_on_with_another_session();
    } else {
      goes_on_with_the_same_session(path);
    }
    const bool still = arrived && !(kind.ends_with_session && cut.afterwards == Afterwards::refuse);
    if (kind.applied) CHECK(kind.applied(observer, path) == still);
    Pending<> again;
    kind.start(client.session(), path, again);
    REQUIRE(eventually([&] { return again.ready(); }));
    CHECK(std::get<0>(again.get()) == (still ? kind.repeated : error_code{}));
    CHECK(pending.completions() == 1);
    CHECK(eventually([&] { return server.monitor("zk_watch_count") == 0; }));
  }

  /// Calls `attempt` with each way to cut a request of this kind.
  template <class Attempt>
  static void in_every_way(Opcode opcode, Afterwards afterwards, Attempt attempt) {
    for (const CutPoint point :
         {CutPoint::before_request, CutPoint::inside_request, CutPoint::before_reply, CutPoint::inside_reply})
      for (const CutManner manner : {CutManner::orderly, CutManner::reset}) {
        INFO("cut " << to_string(point) << (manner == CutManner::reset ? " by a reset" : " in good order"));
        attempt(Cut{.opcode = opcode, .point = point, .manner = manner, .afterwards = afterwards});
      }
  }

  void try_all_kinds(Afterwards afterwards) {
    int turn = afterwards == Afterwards::refuse ? 1 : 0;  // a sanitizer's runs try one in three, others in each test
    for (const RequestKind& kind : request_kinds()) {
      INFO(kind.name);
      in_every_way(kind.opcode, afterwards, [&](const Cut& cut) {
        if (turn++ % (sanitized ? 3 : 1) != 0) return;
        if (!waits_for_a_time_out([&] { try_case(kind, cut); })) return;
        CHECK_FALSE(waits_for_a_time_out([&] { try_case(kind, cut); }));  // once it may be the machine that was slow
      });
    }
  }

  /// Every step here follows from the end of a connection, which wakes the loop at once. Then the C client waits for
  /// T/60 before it begins its list of servers, here of one, again. zklock's own pauses between attempts are T/10 at
  /// most. The first other thing that happens by the clock is a heartbeat, at 0.3 T. So without a ping no time-out
  /// has ended an operation that hangs.
  template <class Action>
  bool waits_for_a_time_out(Action action) {
    const int pings = proxy.requests(Opcode::ping);
    action();
    return proxy.requests(Opcode::ping) > pings;
  }

 private:
  int cases_ = 0;
  std::int64_t id_before_ = 0;
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a request that is cut off fails soon, with a true error, and the session goes on",
                 "[faults]") {
  try_all_kinds(Afterwards::reconnect);
}

TEST_CASE_METHOD(Fixture, "a request that is cut off and whose session is then ended fails soon, with a true error",
                 "[faults]") {
  try_all_kinds(Afterwards::refuse);
}

TEST_CASE_METHOD(Fixture, "a reconnection that is cut off is made again, on the same session, with its watches",
                 "[faults]") {
  for (const Opcode opcode : {Opcode::create_session, Opcode::auth, Opcode::set_watches})
    in_every_way(opcode, Afterwards::reconnect, [&](const Cut& cut) {
      INFO("request " << static_cast<int>(opcode));
      const std::string path = prepare();
      const int cuts = proxy.cuts();
      proxy.cut_at(cut);
      proxy.cut();
      REQUIRE(eventually([&] { return proxy.cuts() == cuts + 1; }));
      goes_on_with_the_same_session(path);
      const NodeOptions mine{CreateMode::persistent, creator_all_acl()};  // refused to a client without credentials
      CHECK_FALSE(std::get<0>(outcome_of_operation<CreateResult>(
          [&](auto token) { session.async_create(path + "-mine", "", mine, std::move(token)); })));
    });
}

TEST_CASE_METHOD(Fixture, "a client whose handshake is cut off still learns that its session is over", "[faults]") {
  in_every_way(Opcode::create_session, Afterwards::reconnect, [&](const Cut& cut) {
    prepare();
    const int cuts = proxy.cuts();
    proxy.refuse();
    proxy.cut();
    REQUIRE(eventually([&] { return session.state() == SessionState::suspended; }));
    proxy.cut_at(cut);
    goes_on_with_another_session();
    CHECK(proxy.cuts() == cuts + 1);
  });
}

TEST_CASE_METHOD(Fixture, "a watch that is cancelled while the link is cut is neither kept nor set again", "[faults]") {
  in_every_way(Opcode::remove_watches, Afterwards::reconnect, [&](const Cut& cut) {
    const std::string path = prepare();
    const int cuts = proxy.cuts();
    {
      const auto result = outcome_of_operation<std::optional<Stat>, Watch>(
          [&](auto token) { session.async_exists_and_watch(path, std::move(token)); });
      CHECK(server.monitor("zk_watch_count") == 2);
      proxy.cut_at(cut);
    }
    REQUIRE(eventually([&] { return proxy.cuts() == cuts + 1; }));
    goes_on_with_the_same_session(path);
    CHECK(server.monitor("zk_watch_count") == 0);
  });
}

namespace {

/// The C client gives a server up after two thirds of the session timeout. A third remains to come back in.
struct PatientFixture : Fixture {
  PatientFixture() : Fixture{15s} {}
};

}  // namespace

TEST_CASE_METHOD(PatientFixture, "requests without a reply fail before their session ends, with true errors",
                 "[faults]") {
  for (const Direction direction : {Direction::requests, Direction::replies}) {
    INFO("held: " << (direction == Direction::requests ? "requests" : "replies"));
    const auto all = request_kinds();
    std::vector<std::string> paths;
    for (std::size_t i = 0; i < all.size(); ++i) paths.push_back(prepare());
    proxy.hold(direction);
    std::vector<Pending<>> pending(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i].start(session, paths[i], pending[i]);
    for (std::size_t i = 0; i < all.size(); ++i) {
      INFO(all[i].name);
      CHECK(is_retryable(std::get<0>(pending[i].get())));
    }
    proxy.cut();
    goes_on_with_the_same_session(paths.back());
    for (std::size_t i = 0; i < all.size(); ++i) {
      INFO(all[i].name);
      if (all[i].applied) CHECK(all[i].applied(observer, paths[i]) == (direction == Direction::replies));
      CHECK(pending[i].completions() == 1);
    }
  }
}
