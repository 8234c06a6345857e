// What a Client does for its operations when the link or the session is lost: protection, guaranteed deletes, parents,
// credentials.
#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/frame_proxy.hpp"
#include "support/operations.hpp"
#include "wire.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

using namespace zklock;
using namespace zklock::test;

namespace {

constexpr std::chrono::milliseconds timeout{4'000};

/// A server, a client whose link can be cut, and an observer whose link is not.
struct Fixture {
  testing::TestServer server;
  FrameProxy proxy{server.port()};
  Client observer = make_client(server, timeout);
  Client client{{.connect_string = proxy.address(), .session_timeout = timeout, .retry = RetryNTimes{5, 20ms}}};
  const Session first_session = connected_session(client);

  [[nodiscard]] bool is_there(const std::string& path) const { return exists(connected_session(observer), path); }
  [[nodiscard]] bool goes(const std::string& path) const {
    return eventually([&] { return !is_there(path); });
  }
  [[nodiscard]] bool stays(const std::string& path) const {
    return !eventually([&] { return !is_there(path); }, 500ms);
  }
  [[nodiscard]] bool loses_its_session() const {
    return eventually([&] { return client.state() == ConnectionState::lost; });
  }

  /// Starts a guaranteed delete, cuts the link at the nth request to delete a node, and then cancels the call.
  void give_up_a_delete(const ClientHandle& by, const std::string& path, RemoveOptions options, int nth = 1) {
    proxy.cut_at({.opcode = Opcode::remove, .afterwards = Afterwards::refuse, .nth = nth});
    Pending<> removal;
    asio::cancellation_signal cancel;
    by.async_remove(path, options.guaranteed(), asio::bind_cancellation_slot(cancel.slot(), removal.handler()));
    REQUIRE(eventually([&] { return proxy.cuts() == 1; }));
    cancel.emit(asio::cancellation_type::total);
    REQUIRE(std::get<0>(removal.get()) == asio::error::operation_aborted);
    REQUIRE(is_there("/app"));
  }
};

}  // namespace

// ---- protection

TEST_CASE_METHOD(Fixture, "a cancelled protected create in a namespace leaves no node", "[faults]") {
  REQUIRE_FALSE(create(observer, "/app/dir", "", CreateOptions{CreateMode::persistent}.creating_parents()));
  const auto options = CreateOptions{CreateMode::persistent_sequential}.with_protection();
  const ClientHandle inside = client.using_namespace("app");
  proxy.cut_at({.opcode = Opcode::create2, .point = CutPoint::before_reply, .afterwards = Afterwards::refuse});
  Pending<CreateResult> creation;
  asio::cancellation_signal cancel;
  inside.async_create("/dir/n-", "x", options, asio::bind_cancellation_slot(cancel.slot(), creation.handler()));
  const auto made = [&] { return children_of(connected_session(observer), "/app/dir").size(); };
  REQUIRE(eventually([&] { return proxy.cuts() == 1; }));
  REQUIRE(made() == 1);
  cancel.emit(asio::cancellation_type::total);
  CHECK(std::get<0>(creation.get()) == asio::error::operation_aborted);
  SECTION("on the same session") {}
  SECTION("on another session") { REQUIRE(loses_its_session()); }
  proxy.accept_again();
  CHECK(eventually([&] { return made() == 0; }));
}

TEST_CASE_METHOD(Fixture, "a protected create does not take a node of an earlier session for its own", "[faults]") {
  REQUIRE_FALSE(create(observer, "/dir"));
  proxy.cut_at({.opcode = Opcode::create2, .point = CutPoint::before_reply, .afterwards = Afterwards::refuse});
  Pending<CreateResult> creation;
  client.async_create("/dir/n-", "x", CreateOptions{CreateMode::ephemeral_sequential}.with_protection(),
                      creation.handler());
  REQUIRE(eventually([&] { return proxy.cuts() == 1; }));
  REQUIRE(eventually([&] { return first_session.state() == SessionState::suspended; }));
  // Another connection resumes the session after half of the timeout, so the server keeps the session that much longer.
  const auto half = std::chrono::steady_clock::now() + timeout / 2;
  REQUIRE(eventually([&] { return std::chrono::steady_clock::now() > half; }));
  const SessionCredentials credentials = first_session.credentials();
  testing::wire::Connection somebody{server.port(), testing::after(5s)};
  somebody.send_connect({credentials.id, {credentials.password.data(), credentials.password.size()}},
                        static_cast<std::int32_t>(timeout.count()));
  REQUIRE(somebody.receive_connected().id == credentials.id);
  REQUIRE(loses_its_session());
  const auto left_behind = children_of(connected_session(observer), "/dir");
  REQUIRE(left_behind.size() == 1);

  proxy.cut_at({.opcode = Opcode::close_session});  // else the client would end that session now
  proxy.accept_again();
  const auto [error, created] = creation.get();
  REQUIRE_FALSE(error);
  CHECK(created.path != "/dir/" + left_behind[0]);
  CHECK(created.stat.ephemeral_owner == client.session().id());
  CHECK(goes("/dir/" + left_behind[0]));
  CHECK(is_there(created.path));
}

// ---- guaranteed deletes

TEST_CASE_METHOD(Fixture, "a guaranteed delete also deletes the node's children, however far it has come", "[faults]") {
  REQUIRE_FALSE(create(observer, "/app/a/b", "", CreateOptions{CreateMode::persistent}.creating_parents()));
  const int nth = GENERATE(1, 2, 3);  // the request for /app, which is refused, for /app/a/b, or for /app/a
  CAPTURE(nth);
  give_up_a_delete(client, "/app", RemoveOptions{}.deleting_children(), nth);
  proxy.accept_again();
  CHECK(goes("/app"));
}

TEST_CASE_METHOD(Fixture, "a guaranteed delete goes on in its namespace", "[faults]") {
  REQUIRE_FALSE(create(observer, "/app/a", "", CreateOptions{CreateMode::persistent}.creating_parents()));
  REQUIRE_FALSE(create(observer, "/a"));
  give_up_a_delete(client.using_namespace("app"), "/a", {});
  SECTION("on the same session") {}
  SECTION("on another session") { REQUIRE(loses_its_session()); }
  proxy.accept_again();
  CHECK(goes("/app/a"));
  CHECK(is_there("/a"));
}

TEST_CASE_METHOD(Fixture, "a guaranteed delete of a node that does not exist is over", "[faults]") {
  SECTION("at once") {
    CHECK(remove(client, "/app", RemoveOptions{}.guaranteed()) == Error::no_node);
    REQUIRE_FALSE(sync(connected_session(client)));
    CHECK(proxy.requests(Opcode::remove) == 1);
  }
  SECTION("in the background") {
    REQUIRE_FALSE(create(observer, "/app"));
    give_up_a_delete(client, "/app", {});
    REQUIRE_FALSE(remove(observer, "/app"));
    proxy.accept_again();
    REQUIRE(eventually([&] { return proxy.requests(Opcode::remove) == 2; }));
    REQUIRE_FALSE(sync(connected_session(client)));  // the delete has been answered
  }
  REQUIRE_FALSE(create(observer, "/app"));
  CHECK(stays("/app"));
}

TEST_CASE_METHOD(Fixture, "clients may delete a tree at once, and nothing of it is left when any of them is done") {
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 40; ++i)
      REQUIRE_FALSE(create(observer, "/tree/" + std::to_string(i % 5) + "/" + std::to_string(i), "",
                           CreateOptions{CreateMode::persistent}.creating_parents()));
    Pending<> ours;
    Pending<> theirs;
    client.async_remove("/tree", RemoveOptions{}.deleting_children().quietly(), ours.handler());
    observer.async_remove("/tree", RemoveOptions{}.deleting_children().quietly(), theirs.handler());
    CHECK_FALSE(std::get<0>(ours.get()));
    CHECK_FALSE(is_there("/tree"));
    CHECK_FALSE(std::get<0>(theirs.get()));
  }
}

TEST_CASE_METHOD(Fixture, "a tree that others delete while the client deletes it is no error") {
  REQUIRE_FALSE(create(observer, "/tree/a", "", CreateOptions{CreateMode::persistent}.creating_parents()));
  const auto lists = [&] { return proxy.requests(Opcode::get_children) + proxy.requests(Opcode::get_children2); };
  const int before = lists();
  proxy.slow_down(300ms);
  Pending<> removal;
  client.async_remove("/tree", RemoveOptions{}.deleting_children(), removal.handler());
  REQUIRE(eventually([&] { return lists() > before; }));  // the server has refused to delete a node with children
  proxy.hold(Direction::requests);
  REQUIRE_FALSE(remove(observer, "/tree", RemoveOptions{}.deleting_children()));
  proxy.slow_down(0ms);
  SECTION("on the same link") { proxy.resume(Direction::requests); }
  SECTION("and the link is lost") { proxy.cut(); }
  CHECK_FALSE(std::get<0>(removal.get()));
  CHECK(remove(client, "/tree", RemoveOptions{}.deleting_children()) == Error::no_node);
}

// ---- permissions

TEST_CASE_METHOD(Fixture, "parents are made below an ancestor that gives the client no permission") {
  const Client owner{{.connect_string = server.connect_string(), .auth = {{"digest", "ann:secret"}}}};
  REQUIRE_FALSE(create(owner, "/closed", "", NodeOptions{CreateMode::persistent, creator_all_acl()}));
  REQUIRE_FALSE(create(owner, "/closed/open"));
  REQUIRE(std::get<0>(get_data(client, "/closed")) == Error::no_auth);
  CHECK_FALSE(create(client, "/closed/open/a/b", "", CreateOptions{CreateMode::persistent}.creating_parents()));
  CHECK_FALSE(
      create(client, "/closed/open/c/d", "", CreateOptions{CreateMode::ephemeral}.creating_parent_containers()));
  CHECK(acquire(InterProcessMutex{client, "/closed/open/locks/orders"}).is_held());
  const auto with_parents = CreateOptions{CreateMode::persistent}.creating_parents();
  CHECK(create(client, "/closed/new/a", "", with_parents) == Error::no_auth);
}

TEST_CASE("a quota that is used up is told, also where it stops an ancestor of the node") {
  const testing::TestServer server{{.jvm_options = {"-Dzookeeper.enforceQuota=true"}}};
  const Client client = make_client(server);
  const auto with_parents = CreateOptions{CreateMode::persistent}.creating_parents();
  REQUIRE_FALSE(create(client, "/full"));
  // What zkCli's `setquota -N 1 /full` writes: one node, which is there.
  REQUIRE_FALSE(create(client, "/zookeeper/quota/full/zookeeper_limits",
                       "count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=1", with_parents));
  REQUIRE_FALSE(create(client, "/zookeeper/quota/full/zookeeper_stats", "count=1,bytes=0"));
  REQUIRE(create(client, "/full/a") == Error::quota_exceeded);
  CHECK(create(client, "/full/a/b/c", "", with_parents) == Error::quota_exceeded);
  const auto [error, lease] = outcome_of_operation<Lease>(
      [mutex = InterProcessMutex{client, "/full/locks/orders"}](auto token) { mutex.async_acquire(std::move(token)); });
  CHECK(error == Error::quota_exceeded);
}

TEST_CASE_METHOD(Fixture, "a client gives its credentials again after a lost link, and on the next session",
                 "[faults]") {
  const Client ann{{.connect_string = proxy.address(),
                    .session_timeout = timeout,
                    .retry = RetryNTimes{5, 20ms},
                    .auth = {{"digest", "ann:secret"}}}};
  REQUIRE_FALSE(create(ann, "/mine", "x", NodeOptions{CreateMode::persistent, creator_all_acl()}));
  REQUIRE(std::get<0>(get_data(observer, "/mine")) == Error::no_auth);
  const Session session = connected_session(ann);
  const int connections = proxy.connections();
  proxy.cut();
  REQUIRE(eventually([&] { return proxy.connections() >= connections + 2; }));  // both clients have reconnected
  CHECK_FALSE(std::get<0>(get_data(ann, "/mine")));
  CHECK(ann.session() == session);

  const SessionCredentials victim = session.credentials();
  server.end_session(victim.id, {victim.password.data(), victim.password.size()});
  REQUIRE(eventually([&] { return session.state() == SessionState::expired; }));
  CHECK_FALSE(std::get<0>(get_data(ann, "/mine")));
  CHECK_FALSE(ann.session() == session);
}
