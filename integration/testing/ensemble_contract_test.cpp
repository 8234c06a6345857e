// What a real server and the fake ensemble answer alike. Every test runs on both.
#include "ensemble_contract.hpp"

#include <set>

using namespace zklock;
using namespace zklock::test;

// ---- errors

CONTRACT("contract: each operation refuses wrong arguments") {
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

CONTRACT("contract: a read gives the Stat of the node") {
  made(path + "/a");
  made(path + "/b");
  const auto [error, children] = list(path);
  REQUIRE_FALSE(error);
  const std::set<std::string> names{children.names.begin(), children.names.end()};
  CHECK(names == std::set<std::string>{"a", "b"});
  CHECK(children.stat == stat(path));
  CHECK(std::get<1>(get(path)).stat == stat(path));
}

CONTRACT("contract: an ephemeral node's owner is its session, and no other kind of node has an owner") {
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
  CHECK(next(CreateMode::persistent_sequential, "n-") == "n-0000000005");  // the failed create is not counted
  REQUIRE_FALSE(std::get<0>(set(path, "x")));
  CHECK(next(CreateMode::ephemeral_sequential, "n-") == "n-0000000006");
}

// ---- transactions

CONTRACT("contract: a transaction does all operations, by one zxid") {
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

CONTRACT("contract: an ACL is stored with the identities that it means, and obeyed") {
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
  CHECK(std::get<0>(look(node)) == (backend.refuses_exists() ? make_error_code(Error::no_auth) : error_code{}));
  CHECK_FALSE(stat(node + "/none"));  // a node that does not exist is not hidden
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

CONTRACT("contract: an invalid ACL is refused") {
  const auto refused = [&](const AclEntry& entry) {
    return try_create(path + "/x", NodeOptions{CreateMode::persistent, Acl{entry}}) == Error::invalid_acl;
  };
  CHECK(refused({Permission::all, "auth", ""}));  // the client has no credentials
  CHECK(refused({Permission::all, "nonsense", "x"}));
  CHECK(refused({Permission::all, "world", "somebody"}));
  CHECK(refused({Permission::all, "digest", "a:b:c"}));
}

// ---- the configuration

CONTRACT("contract: the ensemble's configuration can be read and not written") {
  const auto [error, config] = wait<DataResult>([&](auto token) { session.async_get_config(std::move(token)); });
  CHECK_FALSE(error);
  CHECK(std::get<0>(set("/zookeeper/config", "x")) == Error::no_auth);
}
