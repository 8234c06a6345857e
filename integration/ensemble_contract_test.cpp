// What a real server and the fake ensemble answer alike: every test runs on both.
#include "support/catch.hpp"
#include "support/fixture.hpp"

#include <zklock/testing/fake_ensemble.hpp>
#include <zklock/transaction.hpp>

#include <mutex>
#include <set>

using namespace zklock;
using namespace zklock::test;

namespace {

const std::string extended_types = "-Dzookeeper.extendedTypesEnabled=true";

/// Where the tests run.
struct Backend {
  explicit Backend(const char* with_name) : name{with_name} {}
  const char* name;

  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual Client client(ClientConfig config = {}) = 0;
  /// Of an ensemble without extended types.
  virtual Client plain_client() = 0;
  virtual void expire(const Session& session) = 0;
  virtual std::size_t watches() = 0;
};

struct RealServer final : Backend {
  RealServer() : Backend{"on a real server"} {}
  testing::TestServer server{{.jvm_options = {extended_types}}};

  Client client(ClientConfig config) override {
    config.connect_string = server.connect_string();
    return Client{std::move(config)};
  }
  Client plain_client() override { return make_client(shared_server()); }
  void expire(const Session& session) override {
    const SessionCredentials known = session.credentials();
    server.end_session(known.id, {known.password.data(), known.password.size()});
  }
  std::size_t watches() override { return static_cast<std::size_t>(server.monitor("zk_watch_count")); }
};

struct Fake final : Backend {
  Fake() : Backend{"on the fake ensemble"} {}
  testing::FakeEnsemble ensemble{{.extended_types = true}};
  testing::FakeEnsemble plain{};

  Client client(ClientConfig config) override { return ensemble.make_client(std::move(config)); }
  Client plain_client() override { return plain.make_client(); }
  void expire(const Session& session) override { ensemble.expire(session.id()); }
  std::size_t watches() override { return ensemble.watches().size(); }
};

/// One after the other.
Backend& each_backend() {
  if (GENERATE(true, false)) {
    static Fake fake;
    return fake;
  }
  static RealServer real;
  return real;
}

/// Operations that wait for their outcome, and give the error where that is all there is to say.
struct Caller {
  Client client;
  Session session = connected_session(client);

  template <class... Results, class Start>
  static auto wait(Start start) {
    return outcome_of_operation<Results...>(std::move(start));
  }
  std::tuple<error_code, CreateResult> create(const std::string& path, const std::string& data = "",
                                              const NodeOptions& options = {}) const {
    return wait<CreateResult>([&](auto token) { session.async_create(path, data, options, std::move(token)); });
  }
  error_code try_create(const std::string& path, const NodeOptions& options = {}) const {
    return std::get<0>(create(path, "", options));
  }
  CreateResult made(const std::string& path, const std::string& data = "", const NodeOptions& options = {}) const {
    auto [error, node] = create(path, data, options);
    INFO(path << ": " << error.message());
    REQUIRE_FALSE(error);
    return node;
  }
  error_code remove(const std::string& path, std::int32_t version = any_version) const {
    return std::get<0>(wait<>([&](auto token) { session.async_remove(path, version, std::move(token)); }));
  }
  std::tuple<error_code, Stat> set(const std::string& path, const std::string& data,
                                   std::int32_t version = any_version) const {
    return wait<Stat>([&](auto token) { session.async_set_data(path, data, version, std::move(token)); });
  }
  std::tuple<error_code, DataResult> get(const std::string& path) const {
    return wait<DataResult>([&](auto token) { session.async_get_data(path, std::move(token)); });
  }
  std::tuple<error_code, ChildrenResult> list(const std::string& path) const {
    return wait<ChildrenResult>([&](auto token) { session.async_get_children(path, std::move(token)); });
  }
  std::optional<Stat> stat(const std::string& path) const {
    auto [error, found] = wait<std::optional<Stat>>([&](auto token) { session.async_exists(path, std::move(token)); });
    REQUIRE_FALSE(error);
    return found;
  }
  std::tuple<error_code, AclResult> acl(const std::string& path) const {
    return wait<AclResult>([&](auto token) { session.async_get_acl(path, std::move(token)); });
  }
  error_code set_acl(const std::string& path, const Acl& acl, std::int32_t version = any_version) const {
    return std::get<0>(wait<>([&](auto token) { session.async_set_acl(path, acl, version, std::move(token)); }));
  }
  std::tuple<error_code, TransactionResults> commit(const Transaction& transaction) const {
    return wait<TransactionResults>([&](auto token) { session.async_commit(transaction, std::move(token)); });
  }
  Watch watch_existence(const std::string& path) const {
    auto [error, found, watch] =
        wait<std::optional<Stat>, Watch>([&](auto token) { session.async_exists_and_watch(path, std::move(token)); });
    REQUIRE_FALSE(error);
    return std::move(watch);
  }
  Watch watch_data(const std::string& path) const {
    auto [error, data, watch] =
        wait<DataResult, Watch>([&](auto token) { session.async_get_data_and_watch(path, std::move(token)); });
    REQUIRE_FALSE(error);
    return std::move(watch);
  }
  Watch watch_children(const std::string& path) const {
    auto [error, children, watch] =
        wait<ChildrenResult, Watch>([&](auto token) { session.async_get_children_and_watch(path, std::move(token)); });
    REQUIRE_FALSE(error);
    return std::move(watch);
  }
};

/// Waits on a watch from the start, so that it can be asked whether it has fired.
struct Watched {
  Watch watch;
  Pending<WatchEvent> event;

  explicit Watched(Watch set) : watch{std::move(set)} { watch.async_wait(event.handler()); }
  WatchEventType type() {
    const auto [error, seen] = event.get(10s);
    REQUIRE_FALSE(error);
    return seen.type;
  }
};

struct Contract : Caller {
  Backend& backend;
  std::string path = fresh_path();
  Catch::ScopedMessage where{Catch::MessageBuilder{"INFO", CATCH_INTERNAL_LINEINFO, Catch::ResultWas::Info}
                             << backend.name};

  Contract() : Contract{each_backend()} {}
  explicit Contract(Backend& chosen) : Caller{chosen.client()}, backend{chosen} {
    const error_code error = try_create("/test");
    REQUIRE((!error || error == Error::node_exists));
    made(path);
  }
};

}  // namespace

#define CONTRACT(title) TEST_CASE_METHOD(Contract, title)

// ---- errors

CONTRACT("contract: each operation refuses what is wrong") {
  made(path + "/e", "", CreateMode::ephemeral);
  made(path + "/p");
  CHECK(try_create(path) == Error::node_exists);
  CHECK(try_create("/") == Error::node_exists);
  CHECK(try_create(path + "/none/x") == Error::no_node);
  CHECK(try_create(path + "/e/x") == Error::no_children_for_ephemerals);
  CHECK(try_create(path + "/e/x", CreateMode::ephemeral_sequential) == Error::no_children_for_ephemerals);
  CHECK(remove(path + "/none") == Error::no_node);
  CHECK(remove(path + "/none/x") == Error::no_node);
  CHECK(remove(path, 7) == Error::bad_version);
  CHECK(remove(path) == Error::not_empty);
  CHECK(remove("/") == Error::bad_arguments);
  CHECK(remove("/zookeeper") == Error::bad_arguments);
  CHECK(std::get<0>(set(path + "/none", "x")) == Error::no_node);
  CHECK(std::get<0>(set(path, "x", 1)) == Error::bad_version);
  CHECK(std::get<0>(get(path + "/none")) == Error::no_node);
  CHECK(std::get<0>(list(path + "/none")) == Error::no_node);
  CHECK(std::get<0>(acl(path + "/none")) == Error::no_node);
  CHECK(set_acl(path + "/none", open_acl()) == Error::no_node);
  CHECK(set_acl(path, open_acl(), 5) == Error::bad_version);
  CHECK_FALSE(stat(path + "/none"));
  const auto [synced] = wait<>([&](auto token) { session.async_sync(path + "/none", std::move(token)); });
  CHECK_FALSE(synced);
}

TEST_CASE("contract: a server without extended types knows no time to live") {
  const Caller caller{each_backend().plain_client()};
  static_cast<void>(caller.try_create("/test"));
  const NodeOptions mortal{CreateMode::persistent_ttl, 1s};
  CHECK(caller.try_create(fresh_path(), mortal) == Error::unimplemented);
}

// ---- Stats

CONTRACT("contract: a Stat counts what happens to a node and below it") {
  const Stat fresh = *stat(path);
  CHECK(fresh.czxid > 0);
  CHECK(fresh.mzxid == fresh.czxid);
  CHECK(fresh.pzxid == fresh.czxid);
  CHECK(fresh.modified == fresh.created);
  CHECK(std::tuple{fresh.version, fresh.cversion, fresh.aversion} == std::tuple{0, 0, 0});
  CHECK(std::tuple{fresh.ephemeral_owner, fresh.data_length, fresh.num_children} == std::tuple{0, 0, 0});

  const Stat child = made(path + "/a", "12345").stat;
  CHECK(child.data_length == 5);
  const Stat parent = *stat(path);
  CHECK(std::tuple{parent.version, parent.cversion, parent.num_children} == std::tuple{0, 1, 1});
  CHECK(parent.pzxid == child.czxid);
  CHECK(parent.mzxid == fresh.mzxid);
  CHECK(stat(path + "/a") == child);

  const Stat changed = std::get<1>(set(path, "four"));
  CHECK(std::tuple{changed.version, changed.cversion, changed.data_length} == std::tuple{1, 1, 4});
  CHECK(changed.mzxid > child.czxid);
  CHECK(changed.pzxid == child.czxid);
  CHECK(changed.modified >= fresh.modified);
  CHECK(stat(path) == changed);

  REQUIRE_FALSE(remove(path + "/a"));
  const Stat bereft = *stat(path);
  CHECK(std::tuple{bereft.version, bereft.cversion, bereft.num_children} == std::tuple{1, 2, 0});
  CHECK(bereft.pzxid > changed.mzxid);

  REQUIRE_FALSE(set_acl(path, open_acl(), 0));
  const Stat guarded = *stat(path);
  CHECK(std::tuple{guarded.version, guarded.cversion, guarded.aversion} == std::tuple{1, 2, 1});
  CHECK(guarded.mzxid == changed.mzxid);
}

CONTRACT("contract: reading gives the Stat of what is read") {
  made(path + "/a");
  made(path + "/b");
  const auto [error, children] = list(path);
  REQUIRE_FALSE(error);
  const std::set<std::string> names{children.names.begin(), children.names.end()};
  CHECK(names == std::set<std::string>{"a", "b"});
  CHECK(children.stat == stat(path));
  CHECK(std::get<1>(get(path)).stat == stat(path));
}

CONTRACT("contract: the owner is the session of an ephemeral node, and nobody of any other kind") {
  CHECK(made(path + "/p").stat.ephemeral_owner == 0);
  CHECK(made(path + "/e", "", CreateMode::ephemeral).stat.ephemeral_owner == session.id());
  CHECK(made(path + "/c", "", CreateMode::container).stat.ephemeral_owner == 0);
  CHECK(made(path + "/t", "", NodeOptions{CreateMode::persistent_ttl, 1h}).stat.ephemeral_owner == 0);
}

// ---- sequences

CONTRACT("contract: sequence numbers count the creations under the parent, of any kind, and nothing else") {
  const auto next = [&](CreateMode mode, const std::string& prefix) {
    const std::string full = made(path + "/" + prefix, "", mode).path;
    return full.substr(path.size() + 1);
  };
  CHECK(next(CreateMode::persistent_sequential, "n-") == "n-0000000000");
  CHECK(next(CreateMode::ephemeral_sequential, "other-") == "other-0000000001");
  made(path + "/plain");
  CHECK(next(CreateMode::persistent_sequential, "n-") == "n-0000000003");
  REQUIRE_FALSE(remove(path + "/plain"));
  REQUIRE_FALSE(remove(path + "/n-0000000003"));
  CHECK(next(CreateMode::persistent_sequential, "n-") == "n-0000000004");
  CHECK(try_create(path + "/n-0000000000") == Error::node_exists);
  CHECK(next(CreateMode::persistent_sequential, "n-") == "n-0000000005");  // what failed is not counted
  REQUIRE_FALSE(std::get<0>(set(path, "x")));
  CHECK(next(CreateMode::ephemeral_sequential, "n-") == "n-0000000006");
}

// ---- watches

CONTRACT("contract: what fires a watch on existence") {
  const std::string node = path + "/n";
  Watched creation{watch_existence(node)};
  made(node);
  CHECK(creation.type() == WatchEventType::node_created);
  Watched change{watch_existence(node)};
  made(node + "/child");
  REQUIRE_FALSE(set_acl(node, open_acl()));
  REQUIRE_FALSE(remove(node + "/child"));
  CHECK_FALSE(change.event.ready());
  REQUIRE_FALSE(std::get<0>(set(node, "x")));
  CHECK(change.type() == WatchEventType::node_data_changed);
  Watched deletion{watch_existence(node)};
  REQUIRE_FALSE(remove(node));
  CHECK(deletion.type() == WatchEventType::node_deleted);
}

CONTRACT("contract: what fires a watch on data") {
  Watched change{watch_data(path)};
  made(path + "/child");
  CHECK(std::get<0>(set(path, "x", 7)) == Error::bad_version);
  CHECK_FALSE(change.event.ready());
  REQUIRE_FALSE(std::get<0>(set(path, "x")));
  CHECK(change.type() == WatchEventType::node_data_changed);
  Watched deletion{watch_data(path)};
  REQUIRE_FALSE(remove(path + "/child"));
  CHECK_FALSE(deletion.event.ready());
  REQUIRE_FALSE(remove(path));
  CHECK(deletion.type() == WatchEventType::node_deleted);
}

CONTRACT("contract: what fires a watch on children") {
  const std::string child = path + "/child";
  Watched arrival{watch_children(path)};
  REQUIRE_FALSE(std::get<0>(set(path, "x")));
  REQUIRE_FALSE(set_acl(path, open_acl()));
  CHECK_FALSE(arrival.event.ready());
  made(child);
  CHECK(arrival.type() == WatchEventType::node_children_changed);
  Watched departure{watch_children(path)};
  REQUIRE_FALSE(std::get<0>(set(child, "x")));
  made(child + "/grandchild");
  REQUIRE_FALSE(remove(child + "/grandchild"));
  CHECK_FALSE(departure.event.ready());
  REQUIRE_FALSE(remove(child));
  CHECK(departure.type() == WatchEventType::node_children_changed);
  Watched deletion{watch_children(path)};
  REQUIRE_FALSE(remove(path));
  CHECK(deletion.type() == WatchEventType::node_deleted);
}

CONTRACT("contract: a watch fires once, and one deletion fires both of a node's watches") {
  Watched data{watch_data(path)};
  Watched children{watch_children(path)};
  Watched again{watch_children(path)};
  CHECK(backend.watches() == 2);
  REQUIRE_FALSE(remove(path));
  CHECK(data.type() == WatchEventType::node_deleted);
  CHECK(children.type() == WatchEventType::node_deleted);
  CHECK(again.type() == WatchEventType::node_deleted);
  CHECK(backend.watches() == 0);
  made(path);
  CHECK(data.event.completions() == 1);
}

CONTRACT("contract: a read that fails leaves no watch, but for existence") {
  const std::string none = path + "/none";
  const auto [no_data, data, data_watch] =
      wait<DataResult, Watch>([&](auto token) { session.async_get_data_and_watch(none, std::move(token)); });
  CHECK(no_data == Error::no_node);
  const auto [no_list, list, list_watch] =
      wait<ChildrenResult, Watch>([&](auto token) { session.async_get_children_and_watch(none, std::move(token)); });
  CHECK(no_list == Error::no_node);
  CHECK(backend.watches() == 0);
  {
    const Watch kept = watch_existence(none);
    CHECK(backend.watches() == 1);
  }
  CHECK(eventually([&] { return backend.watches() == 0; }));
}

CONTRACT("contract: a watch's event comes before the reply of a later read, and of the session's own write") {
  const Caller other{backend.client()};
  for (const bool own : {false, true}) {
    Watch watch = watch_data(path);
    std::mutex mutex;
    std::string order;
    const auto note = [&](char what) {
      const std::lock_guard lock{mutex};
      order += what;
    };
    watch.async_wait(asio::bind_executor(session.get_executor(), [&](error_code, const WatchEvent&) { note('e'); }));
    const Caller& writer = own ? *this : other;
    Pending<Stat> written;
    writer.session.async_set_data(
        path, "new", [&, done = written.handler()](error_code error, Stat stat) mutable { done(error, stat); });
    if (own) {
      session.async_sync(path, asio::bind_executor(session.get_executor(), [&](error_code) { note('r'); }));
    } else {
      REQUIRE_FALSE(std::get<0>(written.get()));
      session.async_get_data(
          path, asio::bind_executor(session.get_executor(), [&](error_code, const DataResult&) { note('r'); }));
    }
    CHECK(eventually([&] {
      const std::lock_guard lock{mutex};
      return order.size() == 2;
    }));
    CHECK(order == "er");
  }
}

// ---- transactions

CONTRACT("contract: a transaction does all, by one number") {
  const std::string a = path + "/a";
  const auto [error, results] = commit(Transaction{}
                                           .create(a, "1")
                                           .set_data(a, "2", 0)
                                           .check(a, 1)
                                           .create(path + "/s-", "", CreateMode::ephemeral_sequential)
                                           .create(path + "/gone", "")
                                           .remove(path + "/gone"));
  REQUIRE_FALSE(error);
  REQUIRE(results.size() == 6);
  for (const TransactionResult& result : results) CHECK_FALSE(result.error);
  CHECK(results[0].path == a);
  CHECK(results[1].stat.version == 1);
  CHECK(results[3].path == path + "/s-0000000001");
  const Stat both = *stat(a);
  CHECK(both.mzxid == both.czxid);
  CHECK(stat(results[3].path)->czxid == both.czxid);
  CHECK(stat(path)->cversion == 4);
  CHECK(std::get<1>(get(a)).data == "2");
}

CONTRACT("contract: a transaction does nothing when one part fails, and says which") {
  Watched untouched{watch_children(path)};
  const auto [error, results] =
      commit(Transaction{}.create(path + "/a", "").set_data(path, "x", 3).create(path + "/b", ""));
  CHECK(error == Error::bad_version);
  REQUIRE(results.size() == 3);
  CHECK(results[0].error == Error::rolled_back);
  CHECK(results[1].error == Error::bad_version);
  CHECK(results[2].error == Error::rolled_back);
  CHECK_FALSE(stat(path + "/a"));
  CHECK(stat(path)->cversion == 0);
  CHECK_FALSE(untouched.event.ready());
  CHECK(std::get<0>(commit(Transaction{}.check(path + "/none"))) == Error::no_node);
  CHECK(std::get<0>(commit(Transaction{}.create(path, ""))) == Error::node_exists);
  CHECK(std::get<0>(commit(Transaction{}.check(path, 1))) == Error::bad_version);
  CHECK(made(path + "/n-", "", CreateMode::persistent_sequential).path == path + "/n-0000000000");
}

// ---- ACLs

CONTRACT("contract: an ACL is stored as it is meant, and obeyed") {
  const Caller alice{backend.client({.auth = {{"digest", "alice:secret"}}})};
  const std::string node = path + "/alices";
  alice.made(node, "mine", NodeOptions{CreateMode::persistent, creator_all_acl()});
  const auto [error, stored] = alice.acl(node);
  REQUIRE_FALSE(error);
  // echo -n alice:secret | openssl sha1 -binary | base64
  CHECK(stored.acl == Acl{{Permission::all, "digest", "alice:aYXlLOpEooaV1cRAvUL1fp9Qt7E="}});
  CHECK(std::get<0>(get(node)) == Error::no_auth);
  CHECK(std::get<0>(list(node)) == Error::no_auth);
  CHECK(std::get<0>(set(node, "x")) == Error::no_auth);
  CHECK(try_create(node + "/x") == Error::no_auth);
  CHECK(set_acl(node, open_acl()) == Error::no_auth);
  CHECK(std::get<0>(acl(node)) == Error::no_auth);
  CHECK(stat(node));  // whether it exists is no secret
  CHECK(remove(path + "/none") == Error::no_node);
  CHECK(std::get<0>(commit(Transaction{}.check(node))) == Error::no_auth);
  CHECK(std::get<1>(alice.get(node)).data == "mine");

  Acl shared = read_acl();
  shared.push_back({Permission::all, "auth", ""});
  REQUIRE_FALSE(alice.set_acl(node, shared, 0));
  CHECK_FALSE(std::get<0>(get(node)));
  const auto [readable, shown] = acl(node);
  CHECK_FALSE(readable);
  REQUIRE(shown.acl.size() == 2);
  CHECK(shown.acl[0] == read_acl()[0]);
  CHECK(shown.acl[1].id == "alice:x");
  CHECK(shown.stat.aversion == 1);
  CHECK_FALSE(remove(node));  // the parent's ACL decides
}

CONTRACT("contract: an ACL that cannot be is refused") {
  const auto refused = [&](const AclEntry& entry) {
    return try_create(path + "/x", NodeOptions{CreateMode::persistent, Acl{entry}}) == Error::invalid_acl;
  };
  CHECK(refused({Permission::all, "auth", ""}));  // nobody has authenticated
  CHECK(refused({Permission::all, "nonsense", "x"}));
  CHECK(refused({Permission::all, "world", "somebody"}));
  CHECK(refused({Permission::all, "digest", "a:b:c"}));
}

// ---- sessions

CONTRACT("contract: ephemeral nodes go with their session, closed or expired, and watches see it") {
  const std::string node = path + "/e";
  for (const bool expires : {false, true}) {
    std::optional<Caller> owner{Caller{backend.client()}};
    owner->made(node, "", CreateMode::ephemeral);
    Watched deletion{watch_existence(node)};
    Watched departure{watch_children(path)};
    if (expires) {
      backend.expire(owner->session);
    } else {
      owner.reset();
    }
    CHECK(deletion.type() == WatchEventType::node_deleted);
    CHECK(departure.type() == WatchEventType::node_children_changed);
    CHECK_FALSE(stat(node));
  }
}

CONTRACT("contract: a session that expires ends its watches and its operations with session_expired") {
  const Caller victim{backend.client()};
  Watched orphan{victim.watch_children(path)};
  backend.expire(victim.session);
  CHECK(std::get<0>(orphan.event.get(10s)) == Error::session_expired);
  CHECK(victim.session.state() == SessionState::expired);
  CHECK(std::get<0>(victim.get(path)) == Error::session_expired);
  CHECK(eventually([&] { return backend.watches() == 0; }));
}

// ---- what goes by itself

CONTRACT("contract: a container that has had a child is deleted when it is empty, and its sequence starts again") {
  const std::string container = path + "/c";
  made(container, "", CreateMode::container);
  const auto enter = [&] { return made(container + "/n-", "", CreateMode::persistent_sequential).path; };
  CHECK(enter() == container + "/n-0000000000");
  const std::string second = enter();
  CHECK(second == container + "/n-0000000001");
  made(path + "/unused", "", CreateMode::container);
  Watched deletion{watch_existence(container)};
  REQUIRE_FALSE(remove(container + "/n-0000000000"));
  REQUIRE_FALSE(remove(second));
  CHECK(deletion.type() == WatchEventType::node_deleted);
  made(container, "", CreateMode::container);
  CHECK(enter() == container + "/n-0000000000");
  CHECK(stat(path + "/unused"));
}

CONTRACT("contract: a node with a time to live goes when it has been unchanged and childless for so long") {
  const std::string node = path + "/t";
  const NodeOptions mortal{CreateMode::persistent_ttl, 50ms};
  made(node, "", mortal);
  CHECK(eventually([&] { return !stat(node); }));
  made(node, "", NodeOptions{CreateMode::persistent_ttl, 1h});
  CHECK(stat(node));
}

CONTRACT("contract: the ensemble's configuration can be read and not written") {
  const auto [error, config] = wait<DataResult>([&](auto token) { session.async_get_config(std::move(token)); });
  CHECK_FALSE(error);
  CHECK(std::get<0>(set("/zookeeper/config", "x")) == Error::no_auth);
}
