// PersistentTtlNode against a real server.
#include "node_fixture.hpp"
#include "support/catch.hpp"

#include <zklock/recipes/nodes/persistent_ttl_node.hpp>

using namespace zklock;
using namespace zklock::test;

namespace {

constexpr std::chrono::milliseconds ttl{1'000};

/// A server with nodes that have a time to live.
struct Fixture {
  testing::TestServer server{{.jvm_options = {"-Dzookeeper.extendedTypesEnabled=true"}}};
  Client client = make_client(server);
  Client other = make_client(server);
  Session session = connected_session(client);
  std::string path = "/services/a";
  std::string touch = path + "/touch";

  [[nodiscard]] std::int64_t changed(const std::string& node) const {
    const auto stat = stat_of(session, node);
    return stat ? stat->mzxid : 0;
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a node with a time to live is there while it is touched, and goes when it is closed") {
  const auto begin = std::chrono::system_clock::now();
  const PersistentTtlNode node{other, path, ttl, "data"};
  node.wait_present();
  CHECK(std::get<1>(get_data(client, path)).data == "data");
  REQUIRE(eventually([&] { return exists(session, touch); }));
  CHECK(stat_of(session, touch)->created >= begin + ttl / 2 - 1ms);  // the servers cut milliseconds
  const std::int64_t created = changed(path);
  Pending<WatchEvent> watching;
  auto [error, read, watch] = outcome_of_operation<DataResult, Watch>(
      [&](auto token) { session.async_get_data_and_watch(path, std::move(token)); });
  watch.async_wait(watching.handler());
  for (std::int64_t i = 0, last = changed(touch); i < 5; ++i) {
    REQUIRE(eventually([&] { return changed(touch) > last; }));
    last = changed(touch);
  }
  CHECK(changed(path) == created);
  CHECK_FALSE(watching.ready());  // touching is no event of the node
  CHECK(node.is_present());

  node.close();
  CHECK(exists(session, path));
  CHECK(eventually([&] { return !exists(session, path); }));
}

TEST_CASE_METHOD(Fixture, "a touched child that is deleted comes back, and so does the node itself") {
  const PersistentTtlNode node{other, path, ttl, "data"};
  REQUIRE(eventually([&] { return exists(session, touch); }));
  REQUIRE_FALSE(test::remove(client, touch));
  CHECK(eventually([&] { return exists(session, touch); }));
  const std::int64_t before = node.state().czxid;
  REQUIRE_FALSE(test::remove(client, path, RemoveOptions{}.deleting_children()));
  CHECK(eventually([&] { return node.is_present() && node.state().czxid > before; }));
  CHECK(eventually([&] { return exists(session, touch); }));
  node.set_data("next");
  CHECK(std::get<1>(get_data(client, path)).data == "next");
}

TEST_CASE_METHOD(Fixture, "a node with a time to live outlives the session, and is the same node") {
  const PersistentTtlNode node{other, path, ttl, "data"};
  node.wait_present();
  const std::int64_t before = node.state().czxid;
  const std::int64_t lost = end_session_of(server, other);
  REQUIRE(eventually([&] { return other.session().id() != lost && node.is_present(); }));
  CHECK(node.state().czxid == before);
  CHECK(eventually([&] { return exists(session, touch); }));
}

TEST_CASE_METHOD(NodeFixture, "a server without nodes that have a time to live is named as the reason, at once") {
  const PersistentTtlNode node{other, node_path, ttl, "data"};
  CHECK(wait_present(node, 10s) == Error::unimplemented);
  CHECK(node.state().phase == NodePhase::ended);
  CHECK_FALSE(close(node));
}

TEST_CASE_METHOD(NodeFixture, "times to live and names of children that cannot be are refused") {
  for (const auto bad : {0ms, 1ms, -5ms, std::chrono::milliseconds{(std::int64_t{1} << 40) + 1}})
    CHECK_THROWS_AS(PersistentTtlNode(client, node_path, bad, ""), boost::system::system_error);
  for (const char* bad : {"", "a/b", ".", ".."})
    CHECK_THROWS_AS(PersistentTtlNode(client, node_path, ttl, "", {.touch = bad}), boost::system::system_error);
}
