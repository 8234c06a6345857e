// The operations of a Client, and their outcomes when replies are lost.
#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/frame_proxy.hpp"
#include "support/operations.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <algorithm>

using namespace zklock;
using namespace zklock::test;

namespace {

/// A server, a client whose link can be cut, and an observer whose link is not.
struct Fixture {
  std::chrono::milliseconds timeout;
  testing::TestServer server;
  FrameProxy proxy{server.port()};
  Client observer = make_client(server);
  Client client{{.connect_string = proxy.address(), .session_timeout = timeout, .retry = RetryNTimes{5, 20ms}}};
  std::int64_t id = connected_session(client).id();

  void lose_the_reply_of(Opcode opcode, Afterwards afterwards = Afterwards::reconnect) {
    proxy.cut_at({.opcode = opcode, .point = CutPoint::before_reply, .afterwards = afterwards});
  }
  explicit Fixture(std::chrono::milliseconds session_ends_after = session_timeout) : timeout{session_ends_after} {}

  [[nodiscard]] std::vector<std::string> children(const std::string& path = "/") const {
    auto names = children_of(connected_session(observer), path);
    std::erase(names, "zookeeper");
    return names;
  }
};

/// The client may be made to lose its session.
struct FleetingFixture : Fixture {
  FleetingFixture() : Fixture{4s} {}
};

}  // namespace

// ---- lost replies

TEST_CASE_METHOD(Fixture, "a protected create whose reply is lost finds its node and makes no second one", "[faults]") {
  using enum CreateMode;
  for (const CreateMode mode : {ephemeral_sequential, persistent_sequential, ephemeral, persistent}) {
    REQUIRE_FALSE(create(observer, "/dir", ""));
    lose_the_reply_of(Opcode::create2);
    std::string made;
    CHECK_FALSE(create(client, "/dir/n-", "x", CreateOptions{mode}.with_protection(), &made));
    CHECK(proxy.cuts() >= 1);
    CHECK(made.ends_with("-n-") != is_sequential(mode));
    CHECK(children("/dir").size() == 1);
    CHECK(made == "/dir/" + children("/dir").at(0));
    CHECK(made.starts_with("/dir/_c_"));
    CHECK(proxy.requests(Opcode::sync) >= 1);
    CHECK(connected_session(client).id() == id);
    CHECK_FALSE(remove(observer, "/dir", RemoveOptions{}.deleting_children()));
  }
}

TEST_CASE_METHOD(Fixture, "a protected create that never reached the server is made again", "[faults]") {
  REQUIRE_FALSE(create(observer, "/dir", ""));
  proxy.cut_at({.opcode = Opcode::create2, .point = CutPoint::inside_request});
  CHECK_FALSE(create(client, "/dir/n-", "x", CreateOptions{CreateMode::ephemeral_sequential}.with_protection()));
  CHECK(children("/dir").size() == 1);
}

TEST_CASE_METHOD(FleetingFixture, "a protected create that fails or is cancelled leaves no node once the link is back",
                 "[faults]") {
  REQUIRE_FALSE(create(observer, "/dir", ""));
  lose_the_reply_of(Opcode::create2, Afterwards::refuse);
  Pending<CreateResult> creation;
  asio::cancellation_signal cancel;
  client.async_create("/dir/n-", "x", CreateOptions{CreateMode::persistent_sequential}.with_protection(),
                      asio::bind_cancellation_slot(cancel.slot(), creation.handler()));
  REQUIRE(eventually([&] { return proxy.cuts() == 1; }));
  REQUIRE(children("/dir").size() == 1);
  SECTION("cancelled") {
    cancel.emit(asio::cancellation_type::total);
    CHECK(std::get<0>(creation.get()) == asio::error::operation_aborted);
  }
  SECTION("cancelled after the session is lost, with a node that outlives it") {
    REQUIRE(eventually([&] { return client.state() == ConnectionState::lost; }));
    cancel.emit(asio::cancellation_type::total);
    CHECK(std::get<0>(creation.get()) == asio::error::operation_aborted);
  }
  proxy.accept_again();
  CHECK(eventually([&] { return children("/dir").empty(); }));
}

TEST_CASE_METHOD(Fixture, "a sequential create without protection is not repeated: its node could not be recognised",
                 "[faults]") {
  lose_the_reply_of(Opcode::create2);
  const error_code error = create(client, "/n-", "x", CreateMode::persistent_sequential);
  CHECK(error);
  CHECK(outcome_of(error) == Outcome::ambiguous);
  CHECK(children().size() == 1);
}

TEST_CASE_METHOD(Fixture, "a write whose reply is lost is looked up, not done twice", "[faults]") {
  SECTION("create: the node's user may have taken it already, so it is not made again") {
    lose_the_reply_of(Opcode::create2);
    CHECK(outcome_of(create(client, "/a", "mine")) == Outcome::ambiguous);
    CHECK(proxy.requests(Opcode::create2) == 1);
    CHECK(children() == std::vector<std::string>{"a"});
  }
  SECTION("create, idempotent") {
    lose_the_reply_of(Opcode::create2);
    CHECK_FALSE(create(client, "/a", "mine", CreateOptions{CreateMode::ephemeral}.idempotent()));
    CHECK(proxy.requests(Opcode::create2) == 2);
  }
  SECTION("create of a node that another client has made meanwhile") {
    proxy.cut_at({.opcode = Opcode::create2, .point = CutPoint::before_request, .afterwards = Afterwards::refuse});
    Pending<CreateResult> creation;
    client.async_create("/a", "mine", CreateOptions{}.idempotent(), creation.handler());
    REQUIRE(eventually([&] { return proxy.cuts() == 1; }));
    REQUIRE_FALSE(create(observer, "/a", "theirs"));
    proxy.accept_again();
    CHECK(outcome_of(std::get<0>(creation.get())) == Outcome::ambiguous);  // maybe made, and replaced
    CHECK(std::get<1>(get_data(observer, "/a")).data == "theirs");
  }
  SECTION("create of an ephemeral node that another client has") {
    REQUIRE_FALSE(create(observer, "/a", "mine", CreateMode::ephemeral));
    proxy.cut_at({.opcode = Opcode::create2, .point = CutPoint::before_request});
    CHECK(outcome_of(create(client, "/a", "mine", CreateOptions{CreateMode::ephemeral}.idempotent())) ==
          Outcome::ambiguous);
    CHECK(create(client, "/a", "mine", CreateOptions{CreateMode::ephemeral}.idempotent()) == Error::node_exists);
    CHECK(create(client, "/a", "mine", CreateOptions{CreateMode::persistent}.idempotent()) == Error::node_exists);
  }
  SECTION("remove") {
    REQUIRE_FALSE(create(observer, "/a", ""));
    lose_the_reply_of(Opcode::remove);
    CHECK(outcome_of(remove(client, "/a")) == Outcome::ambiguous);  // deleted, by an unknown client
    CHECK(remove(client, "/a") == Error::no_node);
  }
  SECTION("remove, quietly") {
    REQUIRE_FALSE(create(observer, "/a", ""));
    lose_the_reply_of(Opcode::remove);
    CHECK_FALSE(remove(client, "/a", RemoveOptions{}.quietly()));
  }
  SECTION("set_data of a version") {
    REQUIRE_FALSE(create(observer, "/a", ""));
    lose_the_reply_of(Opcode::set_data);
    CHECK(outcome_of(std::get<0>(set_data(client, "/a", "new", SetDataOptions{0}))) == Outcome::ambiguous);
    CHECK(std::get<0>(set_data(client, "/a", "new", SetDataOptions{0})) == Error::bad_version);
  }
  SECTION("set_data of a version, idempotent") {
    REQUIRE_FALSE(create(observer, "/a", ""));
    lose_the_reply_of(Opcode::set_data);
    const auto [error, stat] = set_data(client, "/a", "new", SetDataOptions{0}.idempotent());
    CHECK_FALSE(error);
    CHECK(stat.version == 1);
  }
  SECTION("set_data of a version that another client has changed meanwhile") {
    REQUIRE_FALSE(create(observer, "/a", ""));
    proxy.cut_at({.opcode = Opcode::set_data, .point = CutPoint::before_request, .afterwards = Afterwards::refuse});
    Pending<Stat> setting;
    client.async_set_data("/a", "mine", SetDataOptions{0}, setting.handler());
    REQUIRE(eventually([&] { return proxy.cuts() == 1; }));
    REQUIRE_FALSE(std::get<0>(set_data(observer, "/a", "theirs")));
    proxy.accept_again();
    CHECK(outcome_of(std::get<0>(setting.get())) == Outcome::ambiguous);
    CHECK(std::get<1>(get_data(observer, "/a")).data == "theirs");
  }
  SECTION("a transaction: it cannot be looked up, so its outcome is ambiguous for the caller") {
    lose_the_reply_of(Opcode::multi);
    const auto [error, results] = outcome_of_operation<TransactionResults>(
        [&](auto token) { client.async_commit(Transaction{}.create("/a", ""), std::move(token)); });
    CHECK(outcome_of(error) == Outcome::ambiguous);
    REQUIRE(results.size() == 1);
    CHECK(outcome_of(results[0].error) == Outcome::ambiguous);
    CHECK(children() == std::vector<std::string>{"a"});
  }
  SECTION("reads are repeated") {
    lose_the_reply_of(Opcode::get_data);
    CHECK_FALSE(std::get<0>(get_data(client, "/")));
    CHECK(proxy.requests(Opcode::get_data) == 2);
  }
  CHECK(proxy.cuts() == 1);
  CHECK(connected_session(client).id() == id);
}

TEST_CASE_METHOD(Fixture, "an operation is continued on the next session after an expiry", "[faults]") {
  proxy.cut_at({.opcode = Opcode::get_data, .point = CutPoint::before_request, .afterwards = Afterwards::refuse});
  Pending<DataResult> reading;
  client.async_get_data("/", reading.handler());
  REQUIRE(eventually([&] { return proxy.cuts() == 1; }));
  const auto credentials = client.session().credentials();
  server.end_session(credentials.id, {credentials.password.data(), credentials.password.size()});
  proxy.accept_again();
  CHECK_FALSE(std::get<0>(reading.get()));
  CHECK(connected_session(client).id() != id);
}

TEST_CASE_METHOD(Fixture, "an operation is tried as often as the policy allows, and gives the last error", "[faults]") {
  const Client strict{{.connect_string = proxy.address(),
                       .session_timeout = timeout,
                       .connection_timeout = 300ms,
                       .retry = RetryOneTime{1ms}}};
  REQUIRE(strict.wait_connected(20s));
  proxy.cut_at({.opcode = Opcode::exists, .point = CutPoint::before_request});
  CHECK_FALSE(std::get<0>(
      outcome_of_operation<std::optional<Stat>>([&](auto token) { strict.async_exists("/a", std::move(token)); })));
  CHECK(proxy.requests(Opcode::exists) == 2);
  proxy.refuse();
  proxy.cut();
  CHECK(std::get<0>(outcome_of_operation<std::optional<Stat>>(
            [&](auto token) { strict.async_exists("/a", std::move(token)); })) == Error::not_connected);
}

TEST_CASE_METHOD(Fixture, "an operation ends at its time-out, whatever the server does", "[faults]") {
  const Client hasty{{.connect_string = server.connect_string(),
                      .session_timeout = 10s,
                      .operation_timeout = 500ms,
                      .retry = RetryForever{1ms}}};
  REQUIRE(hasty.wait_connected(20s));
  server.pause();
  const auto start = std::chrono::steady_clock::now();
  CHECK(std::get<0>(get_data(hasty, "/")) == Error::timed_out);
  CHECK(std::chrono::steady_clock::now() - start >= 500ms);
  server.resume();
}

// ---- guaranteed

TEST_CASE_METHOD(FleetingFixture, "a guaranteed delete is done, though its call has failed or was cancelled",
                 "[faults]") {
  REQUIRE_FALSE(create(observer, "/a", ""));
  proxy.cut_at({.opcode = Opcode::remove, .point = CutPoint::before_request, .afterwards = Afterwards::refuse});
  Pending<> removal;
  asio::cancellation_signal cancel;
  client.async_remove("/a", RemoveOptions{}.guaranteed(),
                      asio::bind_cancellation_slot(cancel.slot(), removal.handler()));
  REQUIRE(eventually([&] { return proxy.cuts() == 1; }));
  cancel.emit(asio::cancellation_type::total);
  CHECK(std::get<0>(removal.get()) == asio::error::operation_aborted);
  SECTION("on the same session") {}
  SECTION("on another session") {
    REQUIRE(eventually([&] { return client.state() == ConnectionState::lost; }));
  }
  CHECK(children() == std::vector<std::string>{"a"});
  proxy.accept_again();
  CHECK(eventually([&] { return children().empty(); }));
}

// ---- options

TEST_CASE_METHOD(Fixture, "a create makes its parents, replaces data, or accepts an existing node, if told to") {
  CHECK(create(client, "/a/b/c", "x") == Error::no_node);
  CHECK_FALSE(create(client, "/a/b/c", "x", CreateOptions{CreateMode::persistent}.creating_parents()));
  CHECK(create(client, "/a/b/c", "x") == Error::node_exists);
  CHECK_FALSE(create(client, "/a/b/c", "x", CreateOptions{CreateMode::persistent}.idempotent()));
  CHECK(create(client, "/a/b/c", "y", CreateOptions{CreateMode::persistent}.idempotent()) == Error::node_exists);
  CHECK_FALSE(create(client, "/a/b/c", "y", CreateOptions{CreateMode::persistent}.or_set_data()));
  CHECK(std::get<1>(get_data(client, "/a/b/c")).data == "y");
  CHECK(create(client, "/a/b/c", "z", CreateOptions{CreateMode::persistent}.or_set_data(0)) == Error::bad_version);
  CHECK_FALSE(std::get<0>(set_data(client, "/a/b/c", "z", SetDataOptions{1})));
  CHECK_FALSE(std::get<0>(set_data(client, "/a/b/c", "z", SetDataOptions{1}.idempotent())));
  CHECK(std::get<0>(set_data(client, "/a/b/c", "w", SetDataOptions{1}.idempotent())) == Error::bad_version);

  CHECK_FALSE(create(client, "/p/q", "", CreateOptions{CreateMode::ephemeral}.creating_parent_containers()));
  CHECK_FALSE(remove(client, "/p/q"));
  CHECK(eventually([&] { return children() == std::vector<std::string>{"a"}; }));  // the container is reaped

  CHECK(remove(client, "/a") == Error::not_empty);
  CHECK_FALSE(remove(client, "/a", RemoveOptions{}.deleting_children()));
  CHECK(remove(client, "/a") == Error::no_node);
  CHECK_FALSE(remove(client, "/a", RemoveOptions{}.quietly()));
}

TEST_CASE_METHOD(Fixture, "compressed data are smaller at the server, and come back whole") {
  const std::string data(10'000, 'x');
  REQUIRE_FALSE(create(client, "/a", data, CreateOptions{CreateMode::persistent}.compressed()));
  CHECK(std::get<1>(get_data(client, "/a", GetDataOptions{}.decompressed())).data == data);
  const auto raw = std::get<1>(get_data(client, "/a"));
  CHECK(raw.data.size() < 200);
  CHECK(GzipCodec{}.decode(raw.data) == data);
  REQUIRE_FALSE(std::get<0>(set_data(client, "/a", "short", SetDataOptions{}.compressed())));
  CHECK(std::get<1>(get_data(client, "/a", GetDataOptions{}.decompressed())).data == "short");
  REQUIRE_FALSE(std::get<0>(set_data(client, "/a", "plain")));
  CHECK(std::get<0>(get_data(client, "/a", GetDataOptions{}.decompressed())) == Error::invalid_data);
}

TEST_CASE_METHOD(Fixture, "a namespace is the directory of all paths, and is made when it is needed") {
  const ClientHandle inside = client.using_namespace("app/blue");
  CHECK(std::get<0>(get_data(inside, "/")) == Error::no_node);
  CHECK_FALSE(create(inside, "/a", "x"));
  CHECK(children("/app/blue") == std::vector<std::string>{"a"});
  std::string made;
  CHECK_FALSE(create(inside, "/n-", "", CreateMode::persistent_sequential, &made));
  CHECK(made == "/n-0000000001");
  CHECK_FALSE(create(inside, "/", "", CreateMode::persistent_sequential, &made));  // a child of it
  CHECK(made == "/0000000002");
  CHECK(children("/app") == std::vector<std::string>{"blue"});
  CHECK_FALSE(remove(inside, made));
  {
    const InterProcessMutex mutex{inside, "/locks/m"};
    const Lease lease = acquire(mutex);
    CHECK(lease.node_path().starts_with("/locks/m/_c_"));
    CHECK(children("/app/blue/locks/m").size() == 1);
  }
  const auto [error, stat, watch] = outcome_of_operation<std::optional<Stat>, Watch>(
      [&](auto token) { inside.async_exists_and_watch("/a", std::move(token)); });
  Pending<WatchEvent> seen;
  const_cast<Watch&>(watch).async_wait(seen.handler());
  CHECK_FALSE(remove(observer, "/app/blue/a"));
  CHECK(std::get<1>(seen.get()).path == "/a");
  CHECK_FALSE(create(inside.using_namespace(""), "/top", ""));
  CHECK_FALSE(remove(inside.using_namespace("app"), "/blue/n-0000000001"));
  CHECK_THROWS_AS(client.using_namespace("a//b"), boost::system::system_error);
}

TEST_CASE_METHOD(Fixture, "a closed client refuses every operation") {
  client.close();
  const auto [error, results] = outcome_of_operation<TransactionResults>(
      [&](auto token) { client.async_commit(Transaction{}.check("/").check("/"), std::move(token)); });
  CHECK(error == Error::closed);
  REQUIRE(results.size() == 2);
  CHECK(results[1].error == Error::closed);
  CHECK(std::get<0>(get_data(client, "/")) == Error::closed);
  CHECK(create(client, "/a", "") == Error::closed);
  CHECK(remove(client, "/a", RemoveOptions{}.guaranteed()) == Error::closed);
  CHECK(client.state() == ConnectionState::closed);
}
