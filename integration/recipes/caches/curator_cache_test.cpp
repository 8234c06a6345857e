// CuratorCache against a real server.
#include "support/catch.hpp"
#include "support/frame_proxy.hpp"
#include "support/lock_fixture.hpp"
#include "support/operations.hpp"

#include <zklock/recipes/caches/curator_cache.hpp>
#include <zklock/recipes/caches/watching.hpp>
#include <zklock/recipes/nodes/group.hpp>

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>
#include <vector>

using namespace zklock;
using namespace zklock::test;

namespace {

using State = Freshness::State;

/// Creates nodes, a window at a time.
void create_all(const ClientHandle& client, const std::vector<std::string>& paths) {
  std::vector<Pending<CreateResult>> pending(paths.size());
  for (std::size_t i = 0; i < paths.size(); ++i)
    client.async_create(paths[i], std::to_string(i), CreateMode::persistent, pending[i].handler());
  for (auto& each : pending) REQUIRE_FALSE(std::get<0>(each.get()));
}

void collect(const Session& session, const std::string& path, CacheSnapshot& found) {
  const auto [error, read] =
      outcome_of_operation<DataResult>([&](auto token) { session.async_get_data(path, std::move(token)); });
  if (error) return;
  found[path] = std::make_shared<ChildData>(ChildData{path, read.data, read.stat});
  for (const std::string& name : children_of(session, path)) collect(session, path + "/" + name, found);
}

bool are_same(const CacheSnapshot& left, const CacheSnapshot& right) {
  return std::ranges::equal(left, right, [](const auto& one, const auto& other) {
    return one.first == other.first && one.second->data == other.second->data &&
           one.second->stat.mzxid == other.second->stat.mzxid && one.second->stat.czxid == other.second->stat.czxid;
  });
}

struct Fixture : LockFixture {
  Fixture() { REQUIRE_FALSE(create(client, path, "", CreateOptions{CreateMode::persistent}.creating_parents())); }

  [[nodiscard]] CacheSnapshot truth() const {
    CacheSnapshot found;
    collect(session, path, found);
    return found;
  }
  [[nodiscard]] bool becomes_right(const CuratorCache& cache) const {
    return eventually([&] { return cache.freshness().state == State::live && are_same(*cache.snapshot(), truth()); });
  }
  void write(const std::string& node, const std::string& data) const {
    REQUIRE_FALSE(std::get<0>(set_data(client, node, data)));
  }
};

struct FarFixture : Fixture {
  FrameProxy proxy{server.port()};
  Client away{{.connect_string = proxy.address(), .session_timeout = session_timeout, .retry = RetryNTimes{50, 50ms}}};

  FarFixture() { REQUIRE(away.wait_connected(20s)); }
  void disconnect(const CuratorCache& cache) {
    proxy.refuse();
    proxy.cut();
    REQUIRE(eventually([&] { return cache.freshness().state == State::stale; }));
  }
  void reconnect(const CuratorCache& cache) {
    proxy.accept_again();
    REQUIRE(eventually([&] { return cache.freshness().state == State::live; }));
  }
  [[nodiscard]] int reads() {
    return proxy.requests(Opcode::get_data) + proxy.requests(Opcode::get_children2) + proxy.requests(Opcode::exists);
  }
};

}  // namespace

TEST_CASE_METHOD(FarFixture, "a cache of 2,000 nodes reads each once, and after a lost link only what has changed",
                 "[faults]") {
  constexpr int leaves = 1990;
  std::vector<std::string> paths;
  for (int i = 0; i < 10; ++i) paths.push_back(path + "/d" + std::to_string(i));
  create_all(client, paths);
  paths.clear();
  for (int i = 0; i < leaves; ++i) paths.push_back(path + "/d" + std::to_string(i % 10) + "/n" + std::to_string(i));
  create_all(client, paths);

  const CuratorCache cache{away, path};
  cache.wait_initialized();
  const int nodes = leaves + 11;
  CHECK(cache.size() == static_cast<std::size_t>(nodes));
  REQUIRE(eventually([&] { return cache.freshness().state == State::live; }));
  CHECK(reads() == 2 * nodes);
  CHECK(proxy.requests(Opcode::sync) == 1);

  disconnect(cache);
  for (int i = 0; i < 100; ++i) write(paths[static_cast<std::size_t>(i) * 7], "new");
  reconnect(cache);
  CHECK(reads() == 2 * nodes + 100);
  CHECK(proxy.requests(Opcode::sync) == 2);
  CHECK(becomes_right(cache));

  disconnect(cache);
  reconnect(cache);
  CHECK(reads() == 2 * nodes + 100);
}

TEST_CASE_METHOD(FarFixture, "a cache sees what was deleted, created and created anew behind a lost link", "[faults]") {
  create_all(client, {path + "/a", path + "/b", path + "/c"});
  create_all(client, {path + "/a/x", path + "/b/x"});
  const CuratorCache cache{away, path};
  cache.wait_initialized();
  CacheEvents events = cache.events();
  disconnect(cache);
  for (const char* gone : {"/a/x", "/a", "/b/x", "/b", "/c"}) delete_node(path + gone);
  create_all(client, {path + "/a", path + "/d"});
  create_all(client, {path + "/a/x", path + "/d/y"});
  reconnect(cache);
  CHECK(are_same(*cache.snapshot(), truth()));
  CacheSnapshot known;
  while (const auto event = events.next(100ms)) {
    if (event->now) known[event->path] = event->now;
    if (event->before && !event->now) known.erase(event->path);
  }
  CHECK(are_same(known, truth()));
}

TEST_CASE_METHOD(Fixture, "a cache is right after its session has ended", "[faults]") {
  Client other = make_client(server);
  create_all(client, {path + "/a", path + "/b"});
  const CuratorCache cache{other, path};
  cache.wait_initialized();
  const SessionCredentials before = connected_session(other).credentials();
  server.end_session(before.id, {before.password.data(), before.password.size()});
  delete_node(path + "/a");
  write(path + "/b", "new");
  REQUIRE(eventually([&] { return other.session().id() != before.id; }));
  CHECK(becomes_right(cache));
}

TEST_CASE("a cache is right after its server was restarted, and after it was killed", "[faults]") {
  testing::TestServer server;
  Client client = make_client(server);
  Client writer = make_client(server);
  REQUIRE_FALSE(create(writer, "/app"));
  create_all(writer, {"/app/a", "/app/b", "/app/c"});
  const CuratorCache cache{client, "/app"};
  cache.wait_initialized();
  for (const bool kill : {false, true}) {
    kill ? server.kill() : server.stop();
    REQUIRE(eventually([&] { return cache.freshness().state == State::stale; }));
    server.start();
    REQUIRE_FALSE(std::get<0>(set_data(writer, "/app/a", kill ? "killed" : "stopped")));
    CHECK(eventually([&] { return cache.get("/app/a")->data == (kill ? "killed" : "stopped"); }));
    CHECK(eventually([&] { return cache.freshness().state == State::live; }));
    CHECK(cache.size() == 4);
  }
}

TEST_CASE("a cache that is made before there is a server begins when there is one", "[faults]") {
  testing::TestServer server;
  const Client writer = make_client(server);
  REQUIRE_FALSE(create(writer, "/app"));
  create_all(writer, {"/app/a"});
  server.stop();
  const Client client = make_client(server);
  const CuratorCache cache{client, "/app"};
  CHECK_FALSE(cache.wait_initialized(100ms));
  CHECK(cache.freshness().state == Freshness::State::loading);
  server.start();
  CHECK(cache.wait_initialized(10s));
  CHECK(cache.size() == 2);
}

TEST_CASE("where a server has lost all that it had, a cache forgets it, and shows what is there then", "[faults]") {
  testing::TestServer server;
  const Client client = make_client(server, 2s);
  const CuratorCache cache{client, "/app"};
  CacheEvents events = cache.events();
  DataWatch watch = watch_data(client, "/app");
  const Group group{client, "/app"};
  const auto make = [&](const std::vector<std::string>& nodes) {
    const Client writer = make_client(server, 2s);
    REQUIRE_FALSE(create(writer, "/app", nodes.front()));
    create_all(writer, nodes);
  };
  const auto are_shown = [&](std::size_t nodes) {
    return eventually(
        [&] {
          return cache.size() == nodes + 1 && cache.freshness().state == State::live && group.members().is_live() &&
                 group.members().ids().size() == nodes;
        },
        60s);  // the new server refuses the client until that has a new session
  };
  for (int i = 0; i < 30; ++i)  // so that the later transactions have lower numbers
    REQUIRE_FALSE(create(client, "/before-" + std::to_string(i)));
  make({"/app/a", "/app/b", "/app/c"});
  REQUIRE(are_shown(3));
  server.kill();
  std::filesystem::remove_all(server.directory() / "data" / "version-2");
  server.start();
  make({"/app/d"});
  CHECK(are_shown(1));
  CHECK_FALSE(cache.get("/app/a"));
  CacheSnapshot known;
  bool was_reset = false;
  while (const auto event = events.next(100ms)) {
    if (event->type == CacheEvent::Type::reset) {
      known.clear();
      was_reset = true;
    }
    if (event->now) known[event->path] = event->now;
    if (event->before && !event->now) known.erase(event->path);
  }
  CHECK(was_reset);
  CHECK(are_same(known, *cache.snapshot()));
  std::string last;
  while (const auto change = watch.next(0ms)) last = change->node ? change->node->data : "";
  CHECK(last == "/app/d");
}

TEST_CASE_METHOD(Fixture, "after a thousand random operations a cache, and its events, are what the server has") {
  Client other = make_client(server);
  const CuratorCache cache{other, path};
  cache.wait_initialized();
  CacheEvents events = cache.events();
  std::mt19937 random{11};
  std::set<std::string> there{path};
  for (int i = 0; i < 1000; ++i) {
    const auto any = std::next(there.begin(), static_cast<std::ptrdiff_t>(random() % there.size()));
    const std::string node = *any;
    const auto dice = random() % 4;
    if (dice == 0) {
      write(node, std::to_string(i));
    } else if (dice == 1 && node != path) {
      if (!remove(client, node)) there.erase(node);
    } else if (node.size() < path.size() + 12) {
      const std::string child = node + "/" + static_cast<char>('a' + static_cast<char>(random() % 4));
      if (!create(client, child, std::to_string(i))) there.insert(child);
    }
  }
  cache.refresh();
  CHECK(are_same(*cache.snapshot(), truth()));
  CacheSnapshot known;
  while (const auto event = events.next(100ms)) {
    if (event->now) known[event->path] = event->now;
    if (event->before && !event->now) known.erase(event->path);
  }
  CHECK(are_same(known, truth()));
}

TEST_CASE_METHOD(Fixture, "a node without read permission is unreadable in a cache, until it may be read") {
  Client owner{{.connect_string = server.connect_string(),
                .session_timeout = session_timeout,
                .auth = {{"digest", "owner:secret"}}}};
  REQUIRE_FALSE(create(owner, path + "/closed", "x", NodeOptions{CreateMode::persistent, creator_all_acl()}));
  create_all(client, {path + "/open"});
  const CuratorCache cache{client, path};
  cache.wait_initialized();
  CHECK(cache.get(path + "/closed")->error == Error::no_auth);
  CHECK_FALSE(cache.get(path + "/open")->error);
  REQUIRE(eventually([&] { return cache.freshness().state == State::live; }));
  REQUIRE_FALSE(std::get<0>(outcome_of_operation<>(
      [&](auto token) { owner.async_set_acl(path + "/closed", open_acl(), any_version, std::move(token)); })));
  cache.refresh();
  CHECK(cache.get(path + "/closed")->data == "x");
}

TEST_CASE_METHOD(Fixture, "a client sees its own writes in its cache, by their transactions") {
  const CuratorCache cache{client, path};
  cache.wait_initialized();
  for (int i = 0; i < 50; ++i) {
    const auto [error, stat] = set_data(client, path, std::to_string(i));
    REQUIRE_FALSE(error);
    cache.wait_seen(path, stat.mzxid);
    CHECK(cache.get(path)->data == std::to_string(i));
  }
}

TEST_CASE_METHOD(Fixture, "a cache whose watches have no room says so, and is not live") {
  Client narrow{{.connect_string = server.connect_string(), .session_timeout = session_timeout, .max_buffer = 4096}};
  std::vector<std::string> paths;
  for (int i = 0; i < 100; ++i) paths.push_back(path + "/a-node-with-a-name-of-some-length-" + std::to_string(i));
  create_all(client, paths);
  const CuratorCache cache{narrow, path};
  const auto outcome_of = [](auto wait) {
    try {
      wait();
    } catch (const boost::system::system_error& error) {
      return error.code();
    }
    return error_code{};
  };
  CHECK(outcome_of([&] { cache.wait_initialized(); }) == Error::too_many_watches);
  CHECK(outcome_of([&] { cache.refresh(); }) == Error::too_many_watches);
  CHECK(cache.freshness().state == State::stale);
}

TEST_CASE_METHOD(Fixture, "a cache in a namespace has the namespace's paths") {
  const ClientHandle inside = client.using_namespace(path.substr(1));
  create_all(client, {path + "/a", path + "/a/b"});
  const CuratorCache cache{inside, "/a"};
  cache.wait_initialized();
  CHECK(cache.get("/a/b"));
  const CuratorCache all{inside, "/"};
  all.wait_initialized();
  CHECK(all.size() == 3);
}

TEST_CASE_METHOD(Fixture, "a cache leaves no watch behind, whenever it is destroyed") {
  Client other = make_client(server);
  create_all(client, {path + "/a", path + "/b"});
  for (const auto wait : {0ms, 1ms, 3ms, 50ms}) {
    const CuratorCache cache{other, path};
    static_cast<void>(cache.wait_initialized(wait));
  }
  CHECK(eventually([&] { return server.monitor("zk_watch_count") == 0; }));
}
