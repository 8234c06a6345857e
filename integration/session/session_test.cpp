// Session's operations and watches against a real server.
#include "support/catch.hpp"
#include "support/fixture.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

using namespace zklock;
using namespace zklock::test;

namespace {

struct Fixture {
  Client client = make_client(shared_server());
  Session session = connected_session(client);
  std::string path = fresh_path();

  Fixture() {
    const auto [error, made] = outcome_of_operation<CreateResult>(
        [&](auto token) { session.async_create("/test", "", CreateMode::persistent, std::move(token)); });
    REQUIRE((!error || error == Error::node_exists));
  }
  std::tuple<error_code, CreateResult> create(const std::string& where, const std::string& data,
                                              CreateMode mode) const {
    return outcome_of_operation<CreateResult>(
        [&](auto token) { session.async_create(where, data, mode, std::move(token)); });
  }
  error_code remove(const std::string& where) const {
    return std::get<0>(outcome_of_operation<>([&](auto token) { session.async_remove(where, std::move(token)); }));
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a node is created, read, changed, listed and removed") {
  const auto [created, node] = create(path, "one", CreateMode::persistent);
  REQUIRE_FALSE(created);
  CHECK(node.path == path);
  CHECK(node.stat.czxid > 0);
  CHECK(node.stat.ephemeral_owner == 0);

  const auto [read, data] =
      outcome_of_operation<DataResult>([&](auto token) { session.async_get_data(path, std::move(token)); });
  CHECK_FALSE(read);
  CHECK(data.data == "one");
  CHECK(data.stat == node.stat);

  const auto [changed, stat] = outcome_of_operation<Stat>([&](auto token) {
    session.async_set_data(path, std::string{"t\0wo", 4}, 0, std::move(token));
  });
  CHECK_FALSE(changed);
  CHECK(stat.version == 1);
  CHECK(stat.data_length == 4);
  const auto [stale, ignored] =
      outcome_of_operation<Stat>([&](auto token) { session.async_set_data(path, "x", 0, std::move(token)); });
  CHECK(stale == Error::bad_version);

  CHECK_FALSE(std::get<0>(create(path + "/child", "", CreateMode::container)));
  CHECK(children_of(session, path) == std::vector<std::string>{"child"});
  CHECK(remove(path) == Error::not_empty);
  CHECK_FALSE(remove(path + "/child"));
  const auto [wrong, none] = outcome_of_operation<std::optional<Stat>>(
      [&](auto token) { session.async_exists(path + "/child", std::move(token)); });
  CHECK_FALSE(wrong);
  CHECK_FALSE(none);
  CHECK_FALSE(remove(path));
  CHECK(remove(path) == Error::no_node);
  CHECK_FALSE(std::get<0>(outcome_of_operation<>([&](auto token) { session.async_sync("/test", std::move(token)); })));
}

TEST_CASE_METHOD(Fixture, "every mode makes the node it names") {
  REQUIRE_FALSE(std::get<0>(create(path, "", CreateMode::persistent)));
  const auto make = [&](CreateMode mode) {
    auto [error, node] = create(path + "/n-", "", mode);
    REQUIRE_FALSE(error);
    return node;
  };
  CHECK(make(CreateMode::persistent).path == path + "/n-");
  CHECK(make(CreateMode::persistent_sequential).path == path + "/n-0000000001");
  const CreateResult ephemeral = make(CreateMode::ephemeral_sequential);
  CHECK(ephemeral.path == path + "/n-0000000002");
  CHECK(ephemeral.stat.ephemeral_owner == session.id());
  CHECK(std::get<0>(create(ephemeral.path + "/x", "", CreateMode::persistent)) == Error::no_children_for_ephemerals);
  CHECK(std::get<0>(create(path, "", CreateMode::persistent)) == Error::node_exists);
  CHECK(std::get<0>(create(path + "/t", "", CreateMode::persistent_ttl)) == Error::invalid_create_mode);
}

TEST_CASE_METHOD(Fixture, "bad arguments are refused before they are sent, and the session is unharmed") {
  const auto before = shared_server().monitor("zk_packets_received");
  for (const std::string bad : {"", "relative", "/a/", "/a//b", "/a/../b", "/a\x01", "/\xff"}) {
    INFO(bad);
    CHECK(std::get<0>(create(bad, "", CreateMode::persistent)) == Error::invalid_path);
    CHECK(remove(bad) == Error::invalid_path);
  }
  CHECK(std::get<0>(create(std::string{"/a\0b", 4}, "", CreateMode::persistent)) == Error::invalid_path);
  CHECK(std::get<0>(create(path, std::string(2'000'000, 'x'), CreateMode::persistent)) == Error::payload_too_large);
  CHECK(shared_server().monitor("zk_packets_received") - before <= 4);  // the test's reads, and a ping
  CHECK(session.state() == SessionState::connected);
  CHECK_FALSE(std::get<0>(create(path, std::string(1'000'000, 'x'), CreateMode::persistent)));
}

TEST_CASE_METHOD(Fixture, "a watch completes once, with its event") {
  auto [none, absent, creation] = outcome_of_operation<std::optional<Stat>, Watch>(
      [&](auto token) { session.async_exists_and_watch(path, std::move(token)); });
  REQUIRE_FALSE(none);
  CHECK_FALSE(absent);
  Pending<WatchEvent> created;
  creation.async_wait(created.handler());
  CHECK_FALSE(created.ready());
  REQUIRE_FALSE(std::get<0>(create(path, "", CreateMode::persistent)));
  const auto [created_error, created_event] = created.get();
  CHECK_FALSE(created_error);
  CHECK(created_event.type == WatchEventType::node_created);
  CHECK(created_event.path == path);

  auto [data_error, data, data_watch] = outcome_of_operation<DataResult, Watch>(
      [&](auto token) { session.async_get_data_and_watch(path, std::move(token)); });
  auto [list_error, list, list_watch] = outcome_of_operation<ChildrenResult, Watch>(
      [&](auto token) { session.async_get_children_and_watch(path, std::move(token)); });
  CHECK(shared_server().monitor("zk_watch_count") == 2);
  REQUIRE_FALSE(std::get<0>(create(path + "/child", "", CreateMode::persistent)));
  const auto [child_error, child_event] =
      outcome_of_operation<WatchEvent>([&, &w = list_watch](auto token) { w.async_wait(std::move(token)); });
  CHECK(child_event.type == WatchEventType::node_children_changed);
  outcome_of_operation<Stat>([&](auto token) { session.async_set_data(path, "new", std::move(token)); });
  const auto [change_error, change] =
      outcome_of_operation<WatchEvent>([&, &w = data_watch](auto token) { w.async_wait(std::move(token)); });
  CHECK(change.type == WatchEventType::node_data_changed);
  CHECK(shared_server().monitor("zk_watch_count") == 0);
}

TEST_CASE_METHOD(Fixture, "a watch that is dropped is removed at the server, unless another watch shares its entry") {
  REQUIRE_FALSE(std::get<0>(create(path, "", CreateMode::ephemeral)));
  const auto watch_children = [&] {
    return std::get<2>(outcome_of_operation<ChildrenResult, Watch>(
        [&](auto token) { session.async_get_children_and_watch(path, std::move(token)); }));
  };
  Watch stays = watch_children();
  {
    const Watch goes = watch_children();
    CHECK(shared_server().monitor("zk_watch_count") == 1);
  }
  CHECK_FALSE(std::get<0>(outcome_of_operation<>([&](auto token) { session.async_sync("/", std::move(token)); })));
  CHECK(shared_server().monitor("zk_watch_count") == 1);
  SECTION("the other watch fires") {
    Pending<WatchEvent> event;
    stays.async_wait(event.handler());
    CHECK_FALSE(remove(path));
    CHECK(std::get<1>(event.get()).type == WatchEventType::node_deleted);
  }
  SECTION("the last watch that is dropped removes the server's entry, and a new one works") {
    stays = Watch{};
    CHECK(eventually([] { return shared_server().monitor("zk_watch_count") == 0; }));
    Watch again = watch_children();
    CHECK_FALSE(remove(path));
    CHECK(std::get<1>(outcome_of_operation<WatchEvent>([&](auto token) { again.async_wait(std::move(token)); })).type ==
          WatchEventType::node_deleted);
  }
  CHECK(eventually([] { return shared_server().monitor("zk_watch_count") == 0; }));
}

TEST_CASE_METHOD(Fixture, "a wait for a watch that is dropped is cancelled") {
  auto [error, stat, watch] = outcome_of_operation<std::optional<Stat>, Watch>(
      [&](auto token) { session.async_exists_and_watch(path, std::move(token)); });
  REQUIRE_FALSE(error);
  Pending<WatchEvent> event;
  watch.async_wait(event.handler());
  SECTION("at once") { watch = Watch{}; }
  SECTION("on the I/O thread, ahead of a start that is queued") {
    asio::dispatch(asio::bind_executor(session.get_executor(), [&watch = watch] { watch = Watch{}; }));
  }
  CHECK(std::get<0>(event.get()) == asio::error::operation_aborted);
  CHECK(event.completions() == 1);
  CHECK(eventually([&] { return shared_server().monitor("zk_watch_count") == 0; }));
}

TEST_CASE_METHOD(Fixture, "a read that is cancelled at any moment leaves no watch") {
  REQUIRE_FALSE(std::get<0>(create(path, "", CreateMode::ephemeral)));
  for (int round = 0; round < 200; ++round) {
    asio::cancellation_signal cancel;
    Pending<ChildrenResult, Watch> read;
    session.async_get_children_and_watch(path, asio::bind_cancellation_slot(cancel.slot(), read.handler()));
    if (round % 3 == 1)
      static_cast<void>(outcome_of_operation<>([&](auto token) { session.async_sync("/", std::move(token)); }));
    cancel.emit(asio::cancellation_type::terminal);
    const error_code error = std::get<0>(read.get());
    CHECK((!error || error == asio::error::operation_aborted));
    CHECK(read.completions() == 1);
  }
  CHECK(eventually([] { return shared_server().monitor("zk_watch_count") == 0; }));
}

TEST_CASE_METHOD(Fixture, "dropping a data watch removes no exists watch, neither at the client nor at the server") {
  REQUIRE_FALSE(std::get<0>(create(path, "", CreateMode::persistent)));
  auto [error, stat, by_exists] = outcome_of_operation<std::optional<Stat>, Watch>(
      [&](auto token) { session.async_exists_and_watch(path, std::move(token)); });
  {
    const auto [get_error, data, by_get] = outcome_of_operation<DataResult, Watch>(
        [&](auto token) { session.async_get_data_and_watch(path, std::move(token)); });
  }
  Pending<WatchEvent> event;
  by_exists.async_wait(event.handler());
  outcome_of_operation<Stat>([&](auto token) { session.async_set_data(path, "x", std::move(token)); });
  CHECK(std::get<1>(event.get()).type == WatchEventType::node_data_changed);
}

TEST_CASE_METHOD(Fixture, "an operation takes any completion token") {
  REQUIRE_FALSE(std::get<0>(create(path, "data", CreateMode::persistent)));
  SECTION("a future") { CHECK(session.async_get_data(path, asio::use_future).get().data == "data"); }
  SECTION("a coroutine on an executor of its own, which the operation keeps at work") {
    asio::io_context context;
    std::string read;
    asio::co_spawn(
        context,
        [&]() -> asio::awaitable<void> {
          const DataResult result = co_await session.async_get_data(path);
          read = result.data;
          CHECK(context.get_executor().running_in_this_thread());
        },
        [](std::exception_ptr thrown) { CHECK_FALSE(thrown); });
    context.run();
    CHECK(read == "data");
  }
  SECTION("a function bound to an executor, which the operation keeps at work") {
    asio::io_context context;
    std::string read;
    session.async_get_data(path,
                           asio::bind_executor(context, [&](error_code, DataResult result) { read = result.data; }));
    context.run();
    CHECK(read == "data");
  }
  SECTION("a plain function, which does not run on the I/O thread") {
    Pending<> checked;
    session.async_sync("/", [&, handler = checked.handler()](error_code error) mutable {
      CHECK_FALSE(client.blocking_would_deadlock());
      handler(error);
    });
    CHECK_FALSE(std::get<0>(checked.get()));
  }
}

TEST_CASE("a node with a time to live is made where the server allows it, and refused otherwise") {
  const auto create = [](const testing::TestServer& server, CreateMode mode, std::chrono::milliseconds ttl) {
    const Client client = make_client(server);
    const Session session = connected_session(client);
    return outcome_of_operation<CreateResult>([&](auto token) {
      session.async_create("/ttl", "", {mode, ttl}, std::move(token));
    });
  };
  CHECK(std::get<0>(create(shared_server(), CreateMode::persistent_ttl, 1s)) == Error::unimplemented);
  const testing::TestServer server{{.jvm_options = {"-Dzookeeper.extendedTypesEnabled=true"}}};
  CHECK_FALSE(std::get<0>(create(server, CreateMode::persistent_ttl, 1h)));
  const auto [error, node] = create(server, CreateMode::persistent_sequential_ttl, 1h);
  CHECK_FALSE(error);
  CHECK(node.path == "/ttl0000000001");
  CHECK(std::get<0>(create(server, CreateMode::persistent, 1s)) == Error::invalid_create_mode);
  CHECK(std::get<0>(create(server, CreateMode::persistent_ttl, 0ms)) == Error::invalid_create_mode);
  CHECK(std::get<0>(create(server, CreateMode::persistent_ttl, -1ms)) == Error::invalid_timeout);
  CHECK(std::get<0>(create(server, CreateMode::persistent_ttl, 300'000h * 24)) == Error::invalid_timeout);
}

TEST_CASE("a chroot is the client's root, in requests and in replies") {
  auto& server = shared_server();
  const Client plain = make_client(server);
  const Session outside = connected_session(plain);
  for (const char* node : {"/zoo", "/zoo/zoo"})
    outcome_of_operation<CreateResult>(
        [&](auto token) { outside.async_create(node, "", CreateMode::persistent, std::move(token)); });
  const Client client{{.connect_string = server.connect_string() + "/zoo", .session_timeout = session_timeout}};
  const Session inside = connected_session(client);
  CHECK(children_of(inside, "/") == std::vector<std::string>{"zoo"});
  auto [error, node] = outcome_of_operation<CreateResult>(
      [&](auto token) { inside.async_create("/zoo/a", "", CreateMode::persistent, std::move(token)); });
  REQUIRE_FALSE(error);
  CHECK(node.path == "/zoo/a");
  CHECK(children_of(outside, "/zoo/zoo") == std::vector<std::string>{"a"});
  auto [watch_error, list, watch] = outcome_of_operation<ChildrenResult, Watch>(
      [&](auto token) { inside.async_get_children_and_watch("/zoo/a", std::move(token)); });
  outcome_of_operation<>([&](auto token) { outside.async_remove("/zoo/zoo/a", std::move(token)); });
  CHECK(std::get<1>(outcome_of_operation<WatchEvent>([&, &w = watch](auto token) {
          w.async_wait(std::move(token));
        })).path == "/zoo/a");
}

TEST_CASE_METHOD(Fixture, "a read that is cancelled between its reply and its completion leaves no watch") {
  REQUIRE_FALSE(std::get<0>(create(path, "", CreateMode::ephemeral)));
  for (int round = 0; round < 20; ++round) {
    asio::cancellation_signal cancel;
    Pending<ChildrenResult, Watch> read;
    Pending<> first;
    asio::post(session.get_executor(), [&, handler = first.handler()]() mutable {
      session.async_sync(
          "/", asio::bind_executor(session.get_executor(), [&, done = std::move(handler)](error_code error) mutable {
            cancel.emit(asio::cancellation_type::terminal);
            done(error);
          }));
      session.async_get_children_and_watch(path, asio::bind_cancellation_slot(cancel.slot(), read.handler()));
    });
    CHECK_FALSE(std::get<0>(first.get()));
    static_cast<void>(read.get());
  }
  CHECK(eventually([] { return shared_server().monitor("zk_watch_count") == 0; }));
}
