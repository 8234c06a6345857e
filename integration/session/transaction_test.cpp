// Transactions, ACLs and limits of a Session, against a real server.
#include "support/catch.hpp"
#include "support/fixture.hpp"

#include <algorithm>
#include <mutex>

using namespace zklock;
using namespace zklock::test;

namespace {

std::tuple<error_code, TransactionResults> commit(const Session& session, Transaction transaction) {
  return outcome_of_operation<TransactionResults>(
      [&](auto token) { session.async_commit(std::move(transaction), std::move(token)); });
}

error_code create(const Session& session, const std::string& path, NodeOptions options = CreateMode::persistent,
                  const std::string& data = "") {
  return std::get<0>(outcome_of_operation<CreateResult>(
      [&](auto token) { session.async_create(path, data, std::move(options), std::move(token)); }));
}

std::tuple<error_code, DataResult> get_data(const Session& session, const std::string& path) {
  return outcome_of_operation<DataResult>([&](auto token) { session.async_get_data(path, std::move(token)); });
}

/// A path right below the root, which needs no parent.
std::string fresh_node() {
  std::string path = fresh_path();
  std::replace(path.begin() + 1, path.end(), '/', '-');
  return path;
}

struct Fixture {
  Client client = make_client(shared_server());
  Session session = connected_session(client);
  std::string path = fresh_node();
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a transaction does all operations in order, and gives the result of each") {
  REQUIRE_FALSE(create(session, path, CreateMode::persistent, "old"));
  Transaction transaction;
  transaction.check(path, 0)
      .create(path + "/n-", "x", CreateMode::ephemeral_sequential)
      .set_data(path, "new", 0)
      .create(path + "/gone", "")
      .remove(path + "/gone", 0);
  const auto [error, results] = commit(session, transaction);
  CHECK_FALSE(error);
  REQUIRE(results.size() == 5);
  CHECK(results[1].path == path + "/n-0000000000");
  CHECK(results[2].stat.version == 1);
  CHECK(results[2].stat.data_length == 3);
  for (const TransactionResult& result : results) CHECK_FALSE(result.error);
  CHECK(children_of(session, path) == std::vector<std::string>{"n-0000000000"});
}

TEST_CASE_METHOD(Fixture, "a transaction that fails does nothing, and names the operation that failed") {
  REQUIRE_FALSE(create(session, path));
  const struct {
    Error expected;
    std::size_t culprit;
    Transaction transaction;
  } cases[] = {
      {Error::bad_version, 1, Transaction{}.create(path + "/a", "").check(path, 7).create(path + "/b", "")},
      {Error::no_node, 0, Transaction{}.remove(path + "/none").create(path + "/a", "")},
      {Error::node_exists, 2, Transaction{}.create(path + "/a", "").set_data(path, "x").create(path, "")},
      {Error::not_empty, 1, Transaction{}.create(path + "/a", "").remove(path)},
  };
  for (const auto& [expected, culprit, transaction] : cases) {
    CAPTURE(culprit);
    const auto [error, results] = commit(session, transaction);
    CHECK(error == expected);
    REQUIRE(results.size() == transaction.operations().size());
    for (std::size_t i = 0; i < results.size(); ++i)
      CHECK(results[i].error == (i == culprit ? expected : Error::rolled_back));
    CHECK(children_of(session, path).empty());
    CHECK(std::get<1>(get_data(session, path)).data.empty());
  }
}

TEST_CASE_METHOD(Fixture,
                 "a transaction with a bad argument is refused before it is sent, and the session is unharmed") {
  const auto frames = [&] { return shared_server().monitor("zk_packets_received"); };
  const struct {
    Error expected;
    Transaction transaction;
  } cases[] = {
      {Error::invalid_path, Transaction{}.check("/").create("relative", "")},
      {Error::invalid_path, Transaction{}.check("/").remove("/a//b")},
      {Error::invalid_path, Transaction{}.check("/").set_data("/a/", "")},
      {Error::invalid_path, Transaction{}.check("/").check(std::string{"/a\0b", 4})},
      {Error::invalid_create_mode, Transaction{}.check("/").create(path, "", CreateMode::container)},
      {Error::invalid_create_mode, Transaction{}.check("/").create(path, "", CreateMode::persistent_ttl)},
      {Error::invalid_acl, Transaction{}.check("/").create(path, "", CreateMode::persistent, Acl{})},
  };
  const auto before = frames();
  for (const auto& [expected, transaction] : cases) {
    const auto [error, results] = commit(session, transaction);
    CHECK(error == Error::invalid_transaction);
    REQUIRE(results.size() == 2);
    CHECK(results[0].error == Error::rolled_back);
    CHECK(results[1].error == expected);
  }
  CHECK(std::get<0>(commit(session, {})) == Error::invalid_transaction);
  CHECK(std::get<0>(commit(session, Transaction{}.create(path, std::string(1'100'000, 'x')))) ==
        Error::payload_too_large);
  CHECK(frames() - before < 4);  // the requests of monitor() itself
  CHECK_FALSE(std::get<0>(commit(session, Transaction{}.check("/"))));
}

TEST_CASE("paths of a transaction are below the chroot, and come back without it") {
  const Client outside = make_client(shared_server());
  const std::string root = fresh_node();
  REQUIRE_FALSE(create(connected_session(outside), root));
  const Client client{{.connect_string = shared_server().connect_string() + root, .session_timeout = session_timeout}};
  const auto [error, results] =
      commit(connected_session(client), Transaction{}.create("/n-", "", CreateMode::persistent_sequential).check("/"));
  CHECK_FALSE(error);
  CHECK(results.at(0).path == "/n-0000000000");
  CHECK(children_of(outside.session(), root) == std::vector<std::string>{"n-0000000000"});
}

TEST_CASE_METHOD(Fixture, "the list of children has the parent's Stat, and the ensemble's configuration can be read") {
  REQUIRE_FALSE(create(session, path));
  REQUIRE_FALSE(create(session, path + "/a"));
  REQUIRE_FALSE(create(session, path + "/b"));
  const auto [error, listed] =
      outcome_of_operation<ChildrenResult>([&](auto token) { session.async_get_children(path, std::move(token)); });
  CHECK_FALSE(error);
  CHECK(listed.names.size() == 2);
  CHECK(listed.stat.num_children == 2);
  CHECK(listed.stat.cversion == 2);

  const auto [config_error, config, watch] = outcome_of_operation<DataResult, Watch>(
      [&](auto token) { session.async_get_config_and_watch(std::move(token)); });
  CHECK_FALSE(config_error);
  CHECK(shared_server().monitor("zk_watch_count") == 1);
}

// ---- ACLs

TEST_CASE_METHOD(Fixture, "an ACL keeps other clients out, and can be read and replaced by version") {
  const Client owner{{.connect_string = shared_server().connect_string(),
                      .session_timeout = session_timeout,
                      .auth = {{"digest", "owner:secret"}}}};
  const Session own = connected_session(owner);
  REQUIRE_FALSE(create(own, path, {CreateMode::persistent, creator_all_acl()}, "private"));
  CHECK(std::get<0>(get_data(session, path)) == Error::no_auth);
  CHECK(create(session, path + "/child") == Error::no_auth);
  CHECK(std::get<1>(get_data(own, path)).data == "private");

  const auto acl_of = [&] {
    return outcome_of_operation<AclResult>([&](auto token) { own.async_get_acl(path, std::move(token)); });
  };
  const auto [error, before] = acl_of();
  CHECK_FALSE(error);
  REQUIRE(before.acl.size() == 1);
  CHECK(before.acl[0].scheme == "digest");
  CHECK(before.acl[0].id.starts_with("owner:"));
  CHECK(before.acl[0].permissions == Permission::all);

  const auto set_acl = [&](Acl acl, std::int32_t version) {
    return std::get<0>(
        outcome_of_operation([&](auto token) { own.async_set_acl(path, std::move(acl), version, std::move(token)); }));
  };
  CHECK(set_acl(read_acl(), before.stat.aversion + 1) == Error::bad_version);
  CHECK_FALSE(set_acl({{Permission::read | Permission::create, "world", "anyone"}}, before.stat.aversion));
  CHECK(std::get<1>(acl_of()).stat.aversion == before.stat.aversion + 1);
  CHECK(std::get<1>(get_data(session, path)).data == "private");
  CHECK_FALSE(create(session, path + "/child"));
}

TEST_CASE_METHOD(Fixture, "ACLs that a server would refuse or misread are refused before they are sent") {
  const Acl bad[] = {
      {},
      {{Permission{0}, "world", "anyone"}},
      {{Permission{32}, "world", "anyone"}},
      {{Permission::all, "", "anyone"}},
      {{Permission::all, "digest", "nobody"}},
      {{Permission::all, std::string{"wor\0ld", 6}, "anyone"}},
  };
  for (const Acl& acl : bad) {
    CHECK(create(session, path, {CreateMode::persistent, acl}) == Error::invalid_acl);
    CHECK(std::get<0>(outcome_of_operation([&](auto token) {
            session.async_set_acl("/", acl, any_version, std::move(token));
          })) == Error::invalid_acl);
  }
  CHECK(create(session, path, {CreateMode::persistent, creator_all_acl()}) == Error::invalid_acl);  // no credentials
  CHECK_FALSE(create(session, path));
}

TEST_CASE("the ACL provider is asked for every node without an ACL of its own, those of a lock among them") {
  std::mutex mutex;
  std::vector<std::string> asked;
  const AclProvider provider = [&](const std::string& path) {
    const std::lock_guard lock{mutex};
    asked.push_back(path);
    return creator_all_acl();
  };
  const std::string path = fresh_node();
  {
    const Client client{{.connect_string = shared_server().connect_string(),
                         .session_timeout = session_timeout,
                         .auth = {{"digest", "owner:secret"}},
                         .acl_provider = provider}};
    const InterProcessMutex lock{client, path + "/a/b"};
    const Lease lease = acquire(lock);
    for (const std::string& level : {path, path + "/a", path + "/a/b", lease.node_path()}) {
      const auto [error, acl] =
          outcome_of_operation<AclResult>([&](auto token) { client.session().async_get_acl(level, std::move(token)); });
      CHECK_FALSE(error);
      CHECK(acl.acl.at(0).scheme == "digest");
    }
  }
  const std::lock_guard lock{mutex};
  CHECK(std::count(asked.begin(), asked.end(), path + "/a/b") >= 1);
}

TEST_CASE("an ACL provider that throws fails the create, and nothing else") {
  const Client client{{.connect_string = shared_server().connect_string(),
                       .session_timeout = session_timeout,
                       .acl_provider = [](const std::string&) -> Acl { throw 7; }}};
  const Session session = connected_session(client);
  CHECK(create(session, fresh_node()) == Error::invalid_acl);
  CHECK_FALSE(create(session, fresh_node(), {CreateMode::ephemeral, open_acl()}));
}

TEST_CASE("credentials that the servers refuse end the session, and the client reports it") {
  const Client client{{.connect_string = shared_server().connect_string(),
                       .session_timeout = session_timeout,
                       .auth = {{"digest", "owner:secret"}, {"no-such-scheme", "x"}}}};
  CHECK(eventually([&] { return client.state() == ConnectionState::lost; }));
  CHECK(client.session().state() == SessionState::auth_failed);
  CHECK(std::get<0>(get_data(client.session(), "/")) == Error::auth_failed);
  CHECK(std::get<0>(outcome_of_operation<DataResult>(
            [&](auto token) { client.async_get_data("/", std::move(token)); })) == Error::auth_failed);
}

TEST_CASE("where servers demand credentials a client that has none is refused for good, whatever it does") {
  const testing::TestServer server{
      {.jvm_options = {"-Dzookeeper.enforce.auth.enabled=true", "-Dzookeeper.enforce.auth.schemes=digest"}}};
  const Client client = make_client(server);
  InterProcessMutex mutex{client, "/lock"};
  CHECK(thrown_by([&] { static_cast<void>(mutex.acquire(5s)); }) == Error::auth_failed);
  CHECK(thrown_by([&] { mutex.acquire(); }) == Error::auth_failed);
  CHECK(client.state() == ConnectionState::lost);
  CHECK(client.session().state() == SessionState::auth_failed);
  CHECK(server.monitor("zk_connection_request_count") == 1);
  const Client idle = make_client(server);
  CHECK(eventually([&] { return idle.state() == ConnectionState::lost; }));  // by its first heartbeat
  CHECK(idle.session().state() == SessionState::auth_failed);
  const Client known{{.connect_string = server.connect_string(),
                      .session_timeout = session_timeout,
                      .auth = {{"digest", "owner:secret"}}}};
  CHECK_FALSE(create(connected_session(known), "/known"));
}

// ---- limits

TEST_CASE_METHOD(Fixture, "the largest frame that the server takes is sent, one byte more is refused") {
  REQUIRE_FALSE(create(session, path));
  const std::size_t room = client.config().max_buffer - 8 - (4 + path.size()) - 4 - 4;
  const auto set_data = [&](const Session& on, std::size_t size) {
    return std::get<0>(outcome_of_operation<Stat>(
        [&](auto token) { on.async_set_data(path, std::string(size, 'x'), std::move(token)); }));
  };
  CHECK_FALSE(set_data(session, room));
  CHECK(set_data(session, room + 1) == Error::payload_too_large);
  CHECK(create(session, "/" + std::string(1'100'000, 'x')) == Error::payload_too_large);
  CHECK(session.state() == SessionState::connected);

  // The reason: the server ends the connection of such a frame, and so fails every other request under way.
  const Client careless{{.connect_string = shared_server().connect_string(),
                         .session_timeout = session_timeout,
                         .max_buffer = 2'000'000}};
  CHECK(set_data(connected_session(careless), room + 1) == Error::connection_loss);
}

TEST_CASE_METHOD(Fixture, "watches that could not be set again after a lost link are refused") {
  const std::string base = "/" + std::string(4'000, 'w');
  const auto watch = [&](int i) {
    return outcome_of_operation<std::optional<Stat>, Watch>(
        [&](auto token) { session.async_exists_and_watch(base + std::to_string(i), std::move(token)); });
  };
  std::vector<Watch> watches;
  error_code error;
  while (!error && watches.size() < 1'000) {
    auto [failed, stat, set] = watch(static_cast<int>(watches.size()));
    error = failed;
    watches.push_back(std::move(set));
  }
  CHECK(error == Error::too_many_watches);
  CHECK(watches.size() == 131);        // 512 KiB
  CHECK_FALSE(std::get<0>(watch(0)));  // one more on a watched path costs nothing
  watches.resize(100);
  CHECK_FALSE(std::get<0>(watch(2'000)));
}
