// Client::async_create case by case: which node it makes, and which node it finds again.
#include "support/catch.hpp"
#include "support/exploration.hpp"

#include <zklock/recipe_kit/protected_path.hpp>
#include <zklock/recipe_kit/session_ops.hpp>
#include <zklock/recipes/locks/inter_process_mutex.hpp>

#include <array>
#include <set>
#include <type_traits>
#include <vector>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

constexpr auto as_tuple = asio::as_tuple(asio::deferred);

/// Runs a scenario with one actor to its end.
void run(Simulation& simulation, std::function<asio::awaitable<void>()> body) {
  simulation.actor(std::move(body));
  simulation.run();
  for (const std::string& failure : simulation.failures()) FAIL_CHECK(failure);
}

CreateOptions guarded(CreateMode mode) { return CreateOptions{mode}.with_protection(); }

/// A protected path without its tag: "/jobs/n-" for "/jobs/_c_<uuid>-n-". Empty when there is no tag.
std::string without_tag(const std::string& path) {
  constexpr std::size_t tag = 40;
  const auto at = path.find("_c_");
  if (at == std::string::npos || path.size() < at + tag || path[at + tag - 1] != '-') return {};
  return path.substr(0, at) + path.substr(at + tag);
}

std::size_t nodes_below_the_root(Simulation& simulation) { return simulation.ensemble().nodes().size() - 1; }

asio::awaitable<void> until(std::function<bool()> holds) {
  while (!holds()) co_await test::pause(10ms);
}

}  // namespace

// ---- protection

TEST_CASE("a protected create of any path makes a name of its own") {
  using enum CreateMode;
  const auto [path, mode, made] = GENERATE(table<std::string, CreateMode, std::string>({
      {"/jobs/n-", persistent_sequential, "/jobs/n-0000000000"},
      {"/jobs/", persistent_sequential, "/jobs/0000000000"},
      {"/jobs/n", persistent, "/jobs/n"},
      {"/n-", persistent_sequential, "/n-0000000002"},
      {"/", persistent_sequential, "/0000000002"},
      {"/n", container, "/n"},
      {"/", persistent, "/"},
      {"/jobs/", persistent, ""},
      {"/jobs//n-", persistent_sequential, ""},
      {"jobs/n-", persistent_sequential, ""},
  }));
  CAPTURE(path, made);
  Simulation simulation;
  run(simulation, [&, &path = path, &mode = mode, &made = made]() -> asio::awaitable<void> {
    Client& client = simulation.client("a");
    const auto [not_made, jobs] = co_await client.async_create("/jobs", "", CreateMode::persistent, as_tuple);
    CHECK_FALSE(not_made);
    auto [error, result] = co_await client.async_create(path, "", guarded(mode), as_tuple);
    CHECK(error == (made.empty() ? make_error_code(Error::invalid_path) : error_code{}));
    CHECK(without_tag(result.path) == made);
  });
}

TEST_CASE("a protected path recognizes its own children of the directory and nothing else") {
  ProtectedPath path{"/jobs", ""};
  const std::string name = path.path().substr(std::string{"/jobs/"}.size());
  CHECK(path.names(name));
  CHECK(path.names(name + "0000000001"));
  for (const std::string other : {"", "order-4711", "_c_", "_c_00000000-0000-4000-8000-000000000000-0000000001"})
    CHECK_FALSE(path.names(other));
  CHECK_FALSE(ProtectedPath{path.directory(), ""}.names(name));
  const ProtectedPath moved = std::move(path);
  CHECK(moved.names(name));
  CHECK_FALSE(path.names("order-4711"));  // NOLINT(bugprone-use-after-move): that is the point
}

TEST_CASE("a protected create finds its own node among namesakes that the client's other sessions have left") {
  Simulation simulation;
  run(simulation, [&]() -> asio::awaitable<void> {
    Client& first = simulation.client("a");  // no temporary configuration in a co_await: g++ 12 destroys it twice
    Client& second = simulation.client("b");
    const auto [no_session_a, a] = co_await first.async_session(as_tuple);
    const auto [no_session_b, b] = co_await second.async_session(as_tuple);
    const ProtectedPath path{"/", "n-"};
    const std::array makers{b, a, b};
    std::vector<std::string> made;
    for (const Session& maker : makers) {
      auto creating = maker.async_create(path.path(), "", CreateMode::ephemeral_sequential, as_tuple);
      auto [error, node] = co_await std::move(creating);
      CHECK_FALSE(error);
      made.push_back(node.path);
    }
    const auto own = co_await find_own_node(a, path);
    CHECK(own->path == made.at(1));
    const auto all = co_await find_nodes(a, path);
    CHECK(all->size() == 3);
    CHECK_FALSE(co_await find_and_remove(a, path));
    CHECK(nodes_below_the_root(simulation) == 0);
  });
}

namespace {

/// Loses the reply of the first create, keeps the client away until its session is lost by the client's own clock, and
/// then keeps the client from ending that session at the server.
struct LateEnd {
  explicit LateEnd(Simulation& in) : simulation{in} {
    simulation.ensemble().on_call([this](const FakeCall& call) {
      if (call.operation == "close" && !call.applied) return FakeFault::cut;
      if (call.operation != "create" || !call.applied || !first.empty()) return FakeFault::none;
      first = call.path;
      session = call.session;
      asio::post(simulation.context(), [this] { simulation.ensemble().refuse_connections(); });
      return FakeFault::cut;
    });
  }
  Simulation& simulation;
  std::string first;
  std::int64_t session = 0;
};

}  // namespace

TEST_CASE("a protected create passes over the node that it made on a session that has ended") {
  const CreateMode mode = GENERATE(CreateMode::ephemeral, CreateMode::ephemeral_sequential);
  Simulation simulation{1, {.tick = 4s, .latency = 1ms}};
  LateEnd late{simulation};
  Client& client = simulation.client("a", {.session_timeout = 8s, .connection_timeout = 60s, .operation_timeout = 60s});
  simulation.actor([&]() -> asio::awaitable<void> {
    co_await until([&] { return client.state() == ConnectionState::lost; });
    CHECK(simulation.ensemble().is_alive(late.session));
    simulation.ensemble().accept_connections();
  });
  run(simulation, [&]() -> asio::awaitable<void> {
    const auto [error, node] = co_await client.async_create("/n-", "", guarded(mode), as_tuple);
    CHECK_FALSE(error);
    CHECK(node.stat.ephemeral_owner != late.session);
    CHECK(node.stat.ephemeral_owner == client.session().id());
    CHECK(nodes_below_the_root(simulation) == 1);
    simulation.ensemble().heal();
    client.close();
  });
}

// ---- access

TEST_CASE("the client's ACLs apply to nodes of every path") {
  const std::string path = GENERATE("/jobs/n-", "/jobs/", "/");
  CAPTURE(path);
  Simulation simulation;
  run(simulation, [&]() -> asio::awaitable<void> {
    std::string asked;
    Client& client = simulation.client("a", {.acl_provider = [&](const std::string& of) {
                                         asked = of;
                                         return read_acl();
                                       }});
    const auto options = NodeOptions{CreateMode::persistent, open_acl()};
    const auto [not_made, jobs] = co_await client.async_create("/jobs", "", options, as_tuple);
    CHECK_FALSE(not_made);
    const auto [error, node] = co_await client.async_create(path, "", CreateMode::persistent_sequential, as_tuple);
    CHECK_FALSE(error);
    CHECK(asked == path);
    for (const FakeNode& each : simulation.ensemble().nodes())
      if (each.path == node.path) CHECK(each.acl == read_acl());
  });
}

TEST_CASE("in a namespace below a node without permissions for the client a missing node is reported as missing") {
  Simulation simulation;
  run(simulation, [&]() -> asio::awaitable<void> {
    Client& owner = simulation.client("owner", {.auth = {{"digest", "ann:secret"}}});
    const auto mine = NodeOptions{CreateMode::persistent, creator_all_acl()};
    for (const std::string path : {"/closed", "/closed/app"}) {
      auto creating = owner.async_create(path, "", path == "/closed" ? mine : NodeOptions{}, as_tuple);
      auto [error, node] = co_await std::move(creating);
      CHECK_FALSE(error);
    }
    Client& client = simulation.client("a");
    const ClientHandle inside = client.using_namespace("closed/app");
    const auto [missing, none] = co_await inside.async_create("/x/y", "", CreateMode::persistent, as_tuple);
    CHECK(missing == Error::no_node);
    const auto [error, made] = co_await inside.async_create(
        "/x/y", "", CreateOptions{NodeOptions{CreateMode::persistent, open_acl()}}.creating_parents(), as_tuple);
    CHECK_FALSE(error);
    CHECK(made.path == "/x/y");
    const auto [refused, nothing] =
        co_await client.using_namespace("closed/new").async_create("/a", "", CreateMode::persistent, as_tuple);
    CHECK(refused == Error::no_auth);
  });
}

// ---- namespaces

TEST_CASE("a directory that cannot be made says why its ancestor could not") {
  Simulation simulation;
  run(simulation, [&]() -> asio::awaitable<void> {
    Client& client = simulation.client("a");
    const Session session = co_await client.async_session();
    const auto [made, ephemeral] = co_await session.async_create("/short-lived", "", CreateMode::ephemeral, as_tuple);
    CHECK_FALSE(made);
    error_code outcome = co_await create_containers(session, "/short-lived/a/b");
    CHECK(outcome == Error::no_children_for_ephemerals);
    const auto [gone] = co_await session.async_remove("/short-lived", as_tuple);
    CHECK_FALSE(gone);
    const auto [open_failed, open] = co_await session.async_create("/open", "", CreateMode::persistent, as_tuple);
    CHECK_FALSE(open_failed);
    const auto [closed] = co_await session.async_set_acl("/", read_acl(), any_version, as_tuple);
    CHECK_FALSE(closed);
    for (const char* path : {"/a", "/a/b", "/a/b/c/d"}) {
      CAPTURE(path);
      outcome = co_await create_containers(session, path);
      CHECK(outcome == Error::no_auth);
    }
    // What is there below the closed root is no reason.
    const auto [opened, again] = co_await session.async_create("/open/e", "", CreateMode::ephemeral, as_tuple);
    CHECK_FALSE(opened);
    outcome = co_await create_containers(session, "/open/e/a/b");
    CHECK(outcome == Error::no_children_for_ephemerals);
    const auto [left] = co_await session.async_remove("/open/e", as_tuple);
    CHECK_FALSE(left);
    const CreateOptions with_parents = CreateOptions{}.creating_parents();
    const auto [refused, node] = co_await client.async_create("/a/b", "", with_parents, as_tuple);
    CHECK(refused == Error::no_auth);
    for (const char* path : {"/locks", "/locks/backup"}) {
      const InterProcessMutex mutex{client, path};
      const auto [not_acquired, lease] = co_await mutex.async_acquire(5s, as_tuple);
      CHECK(not_acquired == Error::no_auth);
    }
  });
}

TEST_CASE("a directory that is there counts as made, also where its parent is closed and it may not be read itself") {
  const bool refuses_exists = GENERATE(false, true);
  CAPTURE(refuses_exists);
  Simulation simulation{1, {.refuses_exists = refuses_exists}};
  run(simulation, [&]() -> asio::awaitable<void> {
    const Session session = co_await simulation.client("a").async_session();
    const Acl closed{{Permission::create, "digest", "nobody:AAAAAAAAAAAAAAAAAAAAAAAAAAA="}};
    const NodeOptions options{CreateMode::persistent, open_acl()};
    error_code outcome = co_await create_path(session, "/closed/a", options);
    CHECK_FALSE(outcome);
    const auto [child_failed] = co_await session.async_set_acl("/closed/a", closed, any_version, as_tuple);
    CHECK_FALSE(child_failed);
    const auto [parent_failed] = co_await session.async_set_acl("/closed", closed, any_version, as_tuple);
    CHECK_FALSE(parent_failed);
    outcome = co_await create_path(session, "/closed/a", options);
    CHECK_FALSE(outcome);
    outcome = co_await create_path(session, "/closed/b", options);
    CHECK(outcome == Error::no_auth);
  });
}

TEST_CASE("a node that its own client may not read is removed by its protected name, also if servers hide it") {
  const bool refuses_exists = GENERATE(false, true);
  CAPTURE(refuses_exists);
  Simulation simulation{1, {.refuses_exists = refuses_exists}};
  run(simulation, [&]() -> asio::awaitable<void> {
    const Session session = co_await simulation.client("a").async_session();
    const auto [not_made, jobs] = co_await session.async_create("/jobs", "", NodeOptions{}, as_tuple);
    CHECK_FALSE(not_made);
    const ProtectedPath path{"/jobs", ""};
    const NodeOptions unreadable{CreateMode::ephemeral_sequential, Acl{{Permission::write, "world", "anyone"}}};
    const auto [error, made] = co_await session.async_create(path.path(), "", unreadable, as_tuple);
    CHECK_FALSE(error);
    CHECK(nodes_below_the_root(simulation) == 2);
    const error_code removed = co_await find_and_remove(session, path);
    CHECK_FALSE(removed);
    CHECK(nodes_below_the_root(simulation) == 1);
  });
}

TEST_CASE("a transaction makes the namespace's own node only if it creates something") {
  Simulation simulation;
  run(simulation, [&]() -> asio::awaitable<void> {
    const ClientHandle inside = simulation.client("a").using_namespace("app/blue");
    const auto [missing, nothing] = co_await inside.async_commit(Transaction{}.remove("/a"), as_tuple);
    CHECK(missing == Error::no_node);
    CHECK(nodes_below_the_root(simulation) == 0);
    const auto [error, done] =
        co_await inside.async_commit(Transaction{}.create("/a", "").create("/a/b", ""), as_tuple);
    CHECK_FALSE(error);
    CHECK(done.size() == 2);
    CHECK(nodes_below_the_root(simulation) == 4);
    const auto [still, failed] =
        co_await inside.async_commit(Transaction{}.check("/a").create("/c/d", "").check("/a"), as_tuple);
    CHECK(still == Error::no_node);
    CHECK(failed.at(0).error == Error::rolled_back);
    CHECK(failed.at(1).error == Error::no_node);
    CHECK(nodes_below_the_root(simulation) == 4);
  });
}

// ---- sessions

TEST_CASE("with several sessions all creates of one path use the same session") {
  const CreateMode mode = GENERATE(CreateMode::ephemeral, CreateMode::ephemeral_sequential);
  Simulation simulation;
  run(simulation, [&]() -> asio::awaitable<void> {
    Client& client = simulation.client("a", {.sessions = 4});
    std::set<std::int64_t> owners;
    for (int i = 0; i < 16; ++i) {
      const auto [error, node] = co_await client.async_create("/n-", "", guarded(mode), as_tuple);
      CHECK_FALSE(error);
      owners.insert(node.stat.ephemeral_owner);
    }
    CHECK(owners == std::set{client.session("/n-").id()});
    client.close();
  });
}

// ---- not twice

namespace {

struct Consumer {
  int creates = 0;
  int takes = 0;
};

/// Loses the reply of each first create. The node is taken before the client can look for it.
void lose_and_take(Simulation& simulation, Consumer& consumer) {
  simulation.ensemble().on_call([&](const FakeCall& call) {
    if (call.operation != "create" || !call.applied || ++consumer.creates > 1) return FakeFault::none;
    asio::post(simulation.context(), [&, path = call.path] {
      simulation.ensemble().remove(path);
      ++consumer.takes;
    });
    return FakeFault::cut;
  });
}

}  // namespace

TEST_CASE("a plain create is not repeated when its reply is lost and another client has taken the node") {
  Simulation simulation{1, {.latency = 1ms}};
  Consumer consumer;
  lose_and_take(simulation, consumer);
  run(simulation, [&]() -> asio::awaitable<void> {
    Client& client = simulation.client("a");
    const auto [error, node] = co_await client.async_create("/job", "x", CreateMode::persistent, as_tuple);
    CHECK(outcome_of(error) == Outcome::ambiguous);
  });
  CHECK(consumer.creates == 1);
  CHECK(consumer.takes == 1);
}

TEST_CASE("a create whose options allow a repetition is repeated") {
  const CreateOptions options = GENERATE(CreateOptions{}.idempotent(), CreateOptions{}.or_set_data());
  Simulation simulation{1, {.latency = 1ms}};
  Consumer consumer;
  lose_and_take(simulation, consumer);
  run(simulation, [&]() -> asio::awaitable<void> {
    Client& client = simulation.client("a");
    const auto [error, node] = co_await client.async_create("/job", "x", options, as_tuple);
    CHECK_FALSE(error);
  });
  CHECK(consumer.creates == 2);
}

// ---- options

TEST_CASE("the result of a chain of options may be kept by reference") {
  const auto& create = CreateOptions{NodeOptions{CreateMode::persistent, read_acl()}}.with_protection().compressed();
  const auto& get = GetDataOptions{}.decompressed();
  const auto& remove = RemoveOptions{3}.deleting_children().quietly();
  const auto& set = SetDataOptions{4}.idempotent().compressed();
  const auto& transaction = Transaction{}.create("/a", std::string(100, 'x')).check("/b");
  static_assert(std::is_same_v<decltype(CreateOptions{}.with_protection()), CreateOptions>);
  static_assert(std::is_same_v<decltype(RemoveOptions{}.quietly()), RemoveOptions>);
  static_assert(std::is_same_v<decltype(Transaction{}.check("/")), Transaction>);
  CHECK(create.is_protected());
  CHECK(create.is_compressed());
  CHECK(create.node().acl == read_acl());
  CHECK(get.compression == Compression::on);
  CHECK(remove.version == 3);
  CHECK(remove.missing == RemoveOptions::Missing::is_fine);
  CHECK(set.version == 4);
  CHECK(set.compression == Compression::on);
  CHECK(transaction.operations().size() == 2);
  CHECK(transaction.operations()[0].data.size() == 100);

  CreateOptions filled{CreateMode::ephemeral};  // one option at a time
  filled.with_protection();
  CHECK(filled.is_protected());
}
