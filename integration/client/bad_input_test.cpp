// Bad input from callers and from servers: tests of the rows of docs/bad-input.md.
#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/frame_proxy.hpp"
#include "support/lying_server.hpp"

#include <boost/asio/bind_executor.hpp>

#include <functional>
#include <limits>

using namespace zklock;
using namespace zklock::test;

namespace {

/// The error that a call throws, or success.
template <class Call>
error_code refusal_of(Call&& call) {
  try {
    std::forward<Call>(call)();
  } catch (const boost::system::system_error& error) {
    return error.code();
  }
  return {};
}

/// A client behind a proxy that counts the client's requests.
struct Fixture {
  FrameProxy proxy{shared_server().port()};
  Client client{{.connect_string = proxy.address(), .session_timeout = session_timeout}};
  Session session = connected_session(client);
  std::int64_t id = session.id();

  [[nodiscard]] int sent() {
    int sum = 0;
    for (const Opcode opcode :
         {Opcode::create, Opcode::create2, Opcode::create_container, Opcode::create_ttl, Opcode::remove, Opcode::exists,
          Opcode::get_data, Opcode::set_data, Opcode::get_acl, Opcode::set_acl, Opcode::get_children,
          Opcode::get_children2, Opcode::sync, Opcode::multi, Opcode::remove_watches, Opcode::close_session})
      sum += proxy.requests(opcode);
    return sum;
  }
  [[nodiscard]] error_code create(const std::string& path, NodeOptions options, const std::string& data = {}) const {
    return std::get<0>(outcome_of_operation<CreateResult>(
        [&](auto token) { session.async_create(path, data, std::move(options), std::move(token)); }));
  }
  [[nodiscard]] error_code commit(const Transaction& transaction) const {
    return std::get<0>(outcome_of_operation<TransactionResults>(
        [&](auto token) { session.async_commit(transaction, std::move(token)); }));
  }
  [[nodiscard]] error_code read(const std::string& path) const {
    return std::get<0>(
        outcome_of_operation<DataResult>([&](auto token) { session.async_get_data(path, std::move(token)); }));
  }
  /// As refusal_of, but on the client's own thread.
  error_code refusal_on_io_thread(const std::function<void()>& call) const {
    return std::get<0>(outcome_of_operation<>([&](auto handler) {
      session.async_sync(
          "/", asio::bind_executor(client.get_executor(), [&call, handler = std::move(handler)](error_code) mutable {
            handler(refusal_of(call));
          }));
    }));
  }
};

struct Row {
  const char* name;
  error_code expected;
  std::function<error_code()> call;
};

}  // namespace

TEST_CASE_METHOD(Fixture, "bad input is refused with its own error, sends nothing, and the session is unharmed") {
  const std::string good = "/bad-input";
  const auto transaction = [&](const Transaction& each) { return commit(each); };
  const auto lock = [&](const std::string& path) {
    return refusal_of([&] { const InterProcessMutex refused{client, path}; });
  };
  const auto configured = [&](ClientConfig config) {
    if (config.connect_string.empty()) config.connect_string = proxy.address();
    return refusal_of([&] { const Client refused{std::move(config)}; });
  };
  const auto connecting = [&](const std::string& connect_string) {
    return refusal_of([&] { client.update_server_list(connect_string); });
  };
  InterProcessMutex mutex{client, good};

  const Row rows[] = {
      {"path: empty", Error::invalid_path, [&] { return read(""); }},
      {"path: relative", Error::invalid_path, [&] { return read("a"); }},
      {"path: NUL", Error::invalid_path,
       [&] {
         return read(std::string{"/a\0b", 4});
       }},
      {"path: beyond U+FFFF", Error::invalid_path, [&] { return read("/\xf0\x9f\x98\x80"); }},
      {"path: of a namespace", Error::invalid_path,
       [&] { return refusal_of([&] { static_cast<void>(client.using_namespace("a//b")); }); }},
      {"lock path: the root", LockError::invalid_lock_path, [&] { return lock("/"); }},
      {"lock path: the server's own", LockError::invalid_lock_path, [&] { return lock("/zookeeper/x"); }},
      {"lock path: too long", LockError::invalid_lock_path, [&] { return lock("/" + std::string(1'000, 'x')); }},
      {"client id: a colon", Error::invalid_client_id, [&] { return configured({.client_id = "a:1"}); }},
      {"client id: a line's end", Error::invalid_client_id, [&] { return configured({.client_id = "a\n"}); }},
      {"client id: too long", Error::invalid_client_id,
       [&] { return configured({.client_id = std::string(129, 'x')}); }},
      {"data: too large", Error::payload_too_large,
       [&] { return create(good, CreateMode::persistent, std::string(1'048'576, 'x')); }},
      {"multi: empty", Error::invalid_transaction, [&] { return transaction({}); }},
      {"multi: a bad path", Error::invalid_transaction, [&] { return transaction(Transaction{}.remove("/a/")); }},
      {"multi: a container", Error::invalid_transaction,
       [&] { return transaction(Transaction{}.create(good, "", CreateMode::container)); }},
      {"multi: too large in sum", Error::payload_too_large,
       [&] {
         const std::string half(600'000, 'x');
         return transaction(Transaction{}.create(good, half).set_data(good, half));
       }},
      {"ACL: empty", Error::invalid_acl,
       [&] {
         return create(good, {CreateMode::persistent, Acl{}});
       }},
      {"ACL: no permission", Error::invalid_acl,
       [&] {
         return create(good, {CreateMode::persistent, Acl{{Permission{0}, "world", "anyone"}}});
       }},
      {"ACL: a digest without ':'", Error::invalid_acl,
       [&] {
         return create(good, {CreateMode::persistent, Acl{{Permission::all, "digest", "me"}}});
       }},
      {"time to live: without its mode", Error::invalid_create_mode,
       [&] {
         return create(good, {CreateMode::persistent, 1'000ms});
       }},
      {"time to live: negative", Error::invalid_timeout,
       [&] {
         return create(good, {CreateMode::persistent_ttl, -1ms});
       }},
      {"connect string: empty", Error::invalid_connect_string, [&] { return connecting(""); }},
      {"connect string: only a chroot", Error::invalid_connect_string, [&] { return connecting("/a"); }},
      {"connect string: an octal port", Error::invalid_connect_string, [&] { return connecting("127.0.0.1:010"); }},
      {"connect string: a NUL", Error::invalid_connect_string,
       [&] {
         return connecting(std::string{"127.0.0.1\0:1", 12});
       }},
      {"session time-out: none", Error::invalid_timeout, [&] { return configured({.session_timeout = 0ms}); }},
      {"session time-out: too short", Error::invalid_timeout, [&] { return configured({.session_timeout = 99ms}); }},
      {"session time-out: too long", Error::invalid_timeout,
       [&] { return configured({.session_timeout = 24h + 1ms}); }},
      {"connection time-out: negative", Error::invalid_timeout,
       [&] { return configured({.connection_timeout = -1ms}); }},
      {"operation time-out: negative", Error::invalid_timeout, [&] { return configured({.operation_timeout = -1ms}); }},
      {"retry policy: no base", Error::invalid_retry_policy,
       [&] { return configured({.retry = ExponentialBackoffRetry{.base = 0ms}}); }},
      {"sessions: none", Error::bad_arguments, [&] { return configured({.sessions = 0}); }},
      {"release: not held", LockError::not_owner, [&] { return refusal_of([&] { mutex.release(); }); }},
      {"release: not held, not waited for", LockError::not_owner, [&] { return refusal_of([&] { mutex.unlock(); }); }},
      {"handler: a null callback", Error::invalid_handler,
       [&] { return refusal_of([&] { static_cast<void>(client.subscribe({})); }); }},
  };
  const int before = sent();
  for (const Row& row : rows) {
    INFO(row.name);
    CHECK(row.call() == row.expected);
  }
  CHECK(sent() == before);
  CHECK_FALSE(read("/"));
  CHECK(sent() == before + 1);  // the proxy does count
  CHECK(session.id() == id);
  CHECK(client.session() == session);
}

TEST_CASE_METHOD(Fixture, "every blocking call on the client's own thread is refused") {
  InterProcessMutex mutex{client, fresh_path()};
  CHECK(refusal_on_io_thread([&] { mutex.acquire(); }) == Error::blocking_in_handler);
  CHECK(refusal_on_io_thread([&] { static_cast<void>(mutex.try_lock()); }) == Error::blocking_in_handler);
  CHECK(refusal_on_io_thread([&] { static_cast<void>(client.wait_connected(1s)); }) == Error::blocking_in_handler);
  CHECK(session.id() == id);
  CHECK_FALSE(read("/"));
}

TEST_CASE_METHOD(Fixture, "an acquire takes a wait of any length: zero or less is one try, and none overflows") {
  const std::string path = fresh_path();
  const InterProcessMutex held{client, path};
  const auto acquired = [&](auto wait) {
    return std::get<0>(outcome_of_operation<Lease>([&](auto token) { held.async_acquire(wait, std::move(token)); }));
  };
  CHECK_FALSE(acquired(-1ms));
  CHECK_FALSE(acquired(std::chrono::hours::max()));
  CHECK_FALSE(acquired(std::chrono::nanoseconds::max()));
  CHECK_FALSE(acquired(std::chrono::duration<double>{std::numeric_limits<double>::quiet_NaN()}));
  CHECK_FALSE(acquired(std::chrono::duration<double>{std::numeric_limits<double>::infinity()}));
  const Lease ahead = acquire(held);
  CHECK(acquired(0ms) == Error::timed_out);
  CHECK(acquired(-1h) == Error::timed_out);
  CHECK(acquired(std::chrono::duration<double>{-std::numeric_limits<double>::infinity()}) == Error::timed_out);
}

TEST_CASE_METHOD(Fixture, "data of a contender's node that zklock cannot parse name no client, and do no harm") {
  const InterProcessMutex mutex{client, fresh_path()};
  const Lease lease = acquire(mutex);  // makes the directory
  const std::string bad[] = {"", ":1", "a", "a:0", "a:-1", "a:+1", "a: 1", "a:99999999999", "a\n:1", "a:\xd9\xa1"};
  for (const std::string& data : bad)
    REQUIRE_FALSE(create(mutex.path() + "/_c_x-lock-", CreateMode::ephemeral_sequential, data));
  const auto [error, line] = outcome_of_operation<std::vector<LockParticipant>>(
      [&](auto token) { mutex.async_participants(std::move(token)); });
  REQUIRE_FALSE(error);
  REQUIRE(line.size() == 1 + std::size(bad));
  for (std::size_t i = 1; i < line.size(); ++i) {
    INFO(bad[i - 1]);
    CHECK(line[i].client_id.empty());
    CHECK(line[i].count == 0);
  }
}

TEST_CASE_METHOD(Fixture, "a lock cannot be at the path of an ephemeral node") {
  const std::string path = "/bad-input-ephemeral";
  REQUIRE_FALSE(create(path, CreateMode::ephemeral));
  const InterProcessMutex mutex{client, path};
  const auto outcome = outcome_of_operation<Lease>([&](auto token) { mutex.async_acquire(10s, std::move(token)); });
  CHECK(std::get<0>(outcome) == Error::no_children_for_ephemerals);
  CHECK(session.id() == id);
}

TEST_CASE("a lease that holds nothing does not say that it was moved from") {
  Lease empty;
  for (const auto& call : std::vector<std::function<void()>>{
           [&] { empty.async_release([](error_code) {}); },
           [&] { empty.async_wait_lost([](error_code) {}); },
           [&] { static_cast<void>(empty.guard()); },
       }) {
    try {
      call();
      FAIL("it is no error");
    } catch (const boost::system::system_error& error) {
      CHECK(error.code() == Error::empty_object);
      CHECK(std::string{error.what()} ==
            "this object is empty: it never got anything, or it was moved from [zklock:15]");
    }
  }
}

TEST_CASE("an object that is empty or was moved from reports empty_object") {
  Client client = make_client(shared_server());
  const Session none;
  CHECK_FALSE(none);
  CHECK(none.state() == SessionState::closed);
  CHECK(none.id() == 0);
  CHECK(none.credentials().id == 0);
  CHECK(none.timeout() == 0ms);
  CHECK_FALSE(none.in_forked_child());
  for (const auto& call : std::vector<std::function<void()>>{
           [&] { static_cast<void>(none.get_executor()); },
           [&] { static_cast<void>(none.callback_executor()); },
           [&] { static_cast<void>(none.states()); },
           [&] { static_cast<void>(none.full_path("/")); },
           [&] { none.async_sync("/", [](error_code) {}); },
       })
    CHECK(refusal_of(call) == Error::empty_object);

  InterProcessMutex mutex{client, fresh_path()};
  const InterProcessMutex taken{std::move(mutex)};
  CHECK(mutex.path().empty());  // NOLINT(bugprone-use-after-move)
  CHECK_FALSE(mutex.is_acquired_in_this_process());
  CHECK_FALSE(mutex.is_owned_by_current_thread());
  CHECK(mutex.fencing_token() == 0);
  CHECK(refusal_of([&] { mutex.acquire(); }) == Error::empty_object);
  CHECK(refusal_of([&] { mutex.release(); }) == Error::empty_object);
  CHECK(refusal_of([&] { mutex.unlock(); }) == Error::empty_object);
  CHECK(refusal_of([&] { mutex.async_acquire([](error_code, Lease) {}); }) == Error::empty_object);

  const Client other{std::move(client)};
  CHECK(client.client_id().empty());  // NOLINT(bugprone-use-after-move)
  CHECK(client.config().connect_string.empty());
  CHECK_FALSE(client.blocking_would_deadlock());
  CHECK_FALSE(client.in_forked_child());
  for (const auto& call : std::vector<std::function<void()>>{
           [&] { static_cast<void>(client.get_executor()); },
           [&] { static_cast<void>(client.callback_executor()); },
           [&] { static_cast<void>(client.state()); },
           [&] { static_cast<void>(client.states()); },
           [&] { static_cast<void>(client.states("/a")); },
           [&] { static_cast<void>(client.session("/a")); },
           [&] { static_cast<void>(client.subscribe([](ConnectionState) {})); },
           [&] { static_cast<void>(client.wait_connected(1s)); },
           [&] { client.async_get_data("/", [](error_code, const DataResult&) {}); },
           [&] { client.update_server_list("127.0.0.1:1"); },
           [&] { client.close(); },
           [&] { client.abort(); },
       })
    CHECK(refusal_of(call) == Error::empty_object);
  CHECK(other.wait_connected(20s));
}

TEST_CASE("a server's malformed reply is an error, and the session goes on") {
  LyingServer server;
  Client client{{.connect_string = server.address(), .session_timeout = session_timeout}};
  const Session session = connected_session(client);
  const auto children = [&](const Bytes& body) {
    server.answer(Opcode::get_children2, 0, body);
    return std::get<0>(
        outcome_of_operation<ChildrenResult>([&](auto token) { session.async_get_children("/a", std::move(token)); }));
  };
  const auto created = [&](const Bytes& body, CreateMode mode, std::int32_t error = 0) {
    server.answer(Opcode::create2, error, body);
    return std::get<0>(outcome_of_operation<CreateResult>(
        [&](auto token) { session.async_create("/a/n", "", mode, std::move(token)); }));
  };
  const auto persistent = CreateMode::persistent, sequential = CreateMode::persistent_sequential;

  SECTION("invalid child names") {
    CHECK_FALSE(children(Bytes{}.number(1).text("b").stat()));
    CHECK(children(Bytes{}.number(2).text("b").text("b/c").stat()) == Error::protocol_error);
    CHECK(children(Bytes{}.number(1).text("").stat()) == Error::protocol_error);
    CHECK(children(Bytes{}.number(1).text(std::string{"\0b", 2}).stat()) == Error::protocol_error);
    CHECK(children(Bytes{}.number(-1).stat()) == Error::protocol_error);
  }
  SECTION("invalid child names, to a read with a watch") {
    server.answer(Opcode::get_children2, 0, Bytes{}.number(1).text("b/c").stat());
    const auto outcome = outcome_of_operation<ChildrenResult, Watch>(
        [&](auto token) { session.async_get_children_and_watch("/a", std::move(token)); });
    CHECK(std::get<0>(outcome) == Error::protocol_error);
  }
  SECTION("the path of another node") {
    CHECK_FALSE(created(Bytes{}.text("/a/n").stat(), persistent));
    CHECK_FALSE(created(Bytes{}.text("/a/n0000000001").stat(), sequential));
    for (const char* elsewhere : {"", "/", "/b/n", "/a/n/x", "/a/n1"})
      CHECK(created(Bytes{}.text(elsewhere).stat(), persistent) == Error::protocol_error);
    for (const char* elsewhere : {"/a/n", "/a/m0000000001", "/a/n/0000000001"})
      CHECK(created(Bytes{}.text(elsewhere).stat(), sequential) == Error::protocol_error);
  }
  SECTION("unknown error codes") {
    for (const int unknown : {-122, -999, -50}) {
      const error_code error = created({}, persistent, unknown);
      CHECK(error.value() == unknown);
      CHECK(error.category() == error_category());
      CHECK(outcome_of(error) == Outcome::ambiguous);
    }
    const error_code positive = created({}, persistent, 5);  // the number of one of zklock's own errors
    CHECK(positive == Error::protocol_error);
    CHECK(outcome_of(positive) == Outcome::ambiguous);
  }
  SECTION("a created node whose name is not a contender's") {
    const InterProcessMutex mutex{client, "/a"};
    const auto acquired = [&](const std::string& name, std::int64_t owner) {
      server.answer(Opcode::get_children2, 0, Bytes{}.number(1).text("_c_x-lock-0000000007").stat());
      server.answer(Opcode::create2, 0, Bytes{}.text(name).stat(owner));
      return std::get<0>(outcome_of_operation<Lease>([&](auto token) { mutex.async_acquire(std::move(token)); }));
    };
    CHECK(acquired("/a/x", LyingServer::session_id) == Error::protocol_error);
    CHECK(acquired("/b/_c_x-lock-0000000007", LyingServer::session_id) == Error::protocol_error);
  }
  CHECK(client.session() == session);
  CHECK(session.state() == SessionState::connected);
  CHECK(server.connections() == 1);
  client.abort();  // the server would not answer a close
}
