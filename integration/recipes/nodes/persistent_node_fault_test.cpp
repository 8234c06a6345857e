// PersistentNode over ended sessions, lost links and killed servers.
#include "node_fixture.hpp"
#include "support/catch.hpp"
#include "support/frame_proxy.hpp"

#include <zklock/testing/test_ensemble.hpp>

#include <ios>
#include <sstream>

using namespace zklock;
using namespace zklock::test;

namespace {

struct Fixture : NodeFixture {};

/// A session as the server's "dump" names it.
bool has_session(const testing::TestServer& server, std::int64_t id) {
  std::ostringstream name;
  name << "0x" << std::hex << id << '\n';
  return server.four_letter_word("dump").find(name.str()) != std::string::npos;
}

/// A client whose link a test can cut.
struct LinkFixture : NodeFixture {
  FrameProxy proxy{server.port()};
  Client away{{.connect_string = proxy.address(), .session_timeout = session_timeout}};
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a persistent node is there again after each of many ended sessions, never twice",
                 "[faults]") {
  const PersistentNode plain{other, node_path, "data"};
  const PersistentNode numbered{
      other, path + "/n", "data", {.mode = CreateMode::ephemeral_sequential, .protection = NodeProtection::on}};
  plain.wait_present();
  numbered.wait_present();
  const std::string name = numbered.node_path();
  for (int i = 0; i < 15; ++i) {
    const std::int64_t lost = end_session_of(server, other);
    REQUIRE(eventually([&] { return other.session().id() != lost && plain.is_present() && numbered.is_present(); }));
    CHECK(owner(node_path) == other.session().id());
    CHECK(owner(name) == other.session().id());
    CHECK(numbered.node_path() == name);
    CHECK(queue_length() == 2);
  }
}

TEST_CASE_METHOD(Fixture, "other clients see a persistent node go when its session ends, and come again", "[faults]") {
  const PersistentNode node{other, node_path, "data"};
  node.wait_present();
  const std::int64_t before = node.state().czxid;
  Pending<WatchEvent> watching;
  auto [error, stat, watch] = outcome_of_operation<std::optional<Stat>, Watch>(
      [&](auto token) { session.async_exists_and_watch(node_path, std::move(token)); });
  watch.async_wait(watching.handler());
  end_session_of(server, other);
  CHECK(std::get<1>(watching.get()).type == WatchEventType::node_deleted);
  CHECK(eventually([&] { return node.is_present() && node.state().czxid > before; }));
  CHECK(data_of(node_path) == "data");
}

TEST_CASE_METHOD(Fixture, "a persistent node takes the place of another client's when that one's session ends",
                 "[faults]") {
  Client third = make_client(server);
  static_cast<void>(connected_session(third));
  REQUIRE_FALSE(create(third, node_path, "foreign", CreateOptions{CreateMode::ephemeral}.creating_parent_containers()));
  const PersistentNode node{other, node_path, "data"};
  REQUIRE(eventually_in(node, NodePhase::taken));
  end_session_of(server, third);
  node.wait_present();
  CHECK(owner(node_path) == other.session().id());
  CHECK(data_of(node_path) == "data");
}

TEST_CASE_METHOD(LinkFixture, "data set while the link is lost are written when it is back", "[faults]") {
  const PersistentNode node{away, node_path, "0"};
  node.wait_present();
  for (int i = 1; i <= 3; ++i) {
    proxy.refuse();
    proxy.cut();
    REQUIRE(eventually_in(node, NodePhase::suspect));
    Pending<> setting;
    node.async_set_data(std::to_string(i), setting.handler());
    CHECK_FALSE(setting.ready(50ms));
    proxy.accept_again();
    CHECK_FALSE(std::get<0>(setting.get()));
    CHECK(data_of(node_path) == std::to_string(i));
    CHECK(wait_present(node, 20s) == error_code{});
  }
}

TEST_CASE_METHOD(LinkFixture, "a lost link costs a persistent node no request, on the same session", "[faults]") {
  const PersistentNode node{away, node_path, "data"};
  node.wait_present();
  const std::int64_t session_before = away.session().id();
  const auto requests = [&] {
    return proxy.requests(Opcode::create2) + proxy.requests(Opcode::get_children2) + proxy.requests(Opcode::exists) +
           proxy.requests(Opcode::get_data) + proxy.requests(Opcode::set_data);
  };
  const int before = requests();
  for (int i = 0; i < 3; ++i) {
    proxy.cut();
    REQUIRE(eventually_in(node, NodePhase::suspect));
    REQUIRE(eventually_in(node, NodePhase::present));
  }
  CHECK(requests() == before);
  CHECK(away.session().id() == session_before);
  proxy.refuse();
  proxy.cut();
  delete_node(node_path);
  proxy.accept_again();
  CHECK(eventually([&] { return exists(session, node_path); }));
}

TEST_CASE_METHOD(LinkFixture, "a persistent node whose create lost its reply is there once, in each mode", "[faults]") {
  REQUIRE_FALSE(create(client, path + "/keep", "", CreateOptions{CreateMode::persistent}.creating_parents()));
  for (const auto& [mode, protection] : {std::pair{CreateMode::ephemeral, NodeProtection::off},
                                         std::pair{CreateMode::ephemeral_sequential, NodeProtection::off},
                                         std::pair{CreateMode::ephemeral_sequential, NodeProtection::on},
                                         std::pair{CreateMode::persistent_sequential, NodeProtection::on}}) {
    for (const CutPoint point : {CutPoint::after_request, CutPoint::before_reply}) {
      static_cast<void>(connected_session(away));
      proxy.cut_at({.opcode = Opcode::create2, .point = point});
      const int cuts = proxy.cuts();
      const PersistentNode node{away, node_path, "data", {.mode = mode, .protection = protection}};
      node.wait_present();
      CHECK(proxy.cuts() == cuts + 1);
      CHECK(queue_length() == 2);
      CHECK_FALSE(close(node));
      CHECK(queue_length() == 1);
    }
  }
}

TEST_CASE("a persistent node of a client that starts before its server is there when the server is", "[faults]") {
  testing::TestServer server;
  server.stop();
  Client client = make_client(server);
  const PersistentNode node{client, "/services/a", "data"};
  CHECK(wait_present(node, 200ms) == Error::timed_out);
  CHECK(node.state().phase == NodePhase::absent);
  server.start();
  node.wait_present();
}

/// A server that was killed keeps its sessions, for their whole timeout from its start on: long enough here for the client
/// to be back before. The client closes its old session then, mostly after the node was replaced, now and then before.
TEST_CASE(
    "the node of a client's old session that its server still has is replaced, and the old session's end leaves it",
    "[faults]") {
  testing::TestServer server;
  const std::string path = "/services/a";
  Client client = make_client(server);
  const PersistentNode node{client, path, "data"};
  node.wait_present();
  const std::int64_t before = client.session().id();
  server.kill();
  REQUIRE(eventually([&] { return node.state().phase == NodePhase::absent; }));  // its own clock has ended the session
  server.start();
  REQUIRE(eventually([&] { return node.is_present(); }));
  Client other = make_client(server);
  const Session session = connected_session(other);
  const auto replaced = stat_of(session, path);
  REQUIRE(replaced);
  CHECK(replaced->ephemeral_owner == client.session().id());
  CHECK(client.session().id() != before);
  REQUIRE(eventually([&] { return !has_session(server, before); }));
  CHECK(stat_of(session, path) == replaced);
}

TEST_CASE("a persistent node outlives the servers' quorum, and is there when they have one again", "[faults]") {
  testing::TestEnsemble ensemble;
  Client client{{.connect_string = ensemble.connect_string(), .session_timeout = session_timeout}};
  const PersistentNode node{client, "/services/a", "data"};
  node.wait_present();
  for (const std::size_t each : {0U, 1U}) ensemble.server(each).kill();
  REQUIRE(eventually([&] { return !node.is_present(); }));
  Pending<> setting;
  node.async_set_data("later", setting.handler());
  CHECK_FALSE(setting.ready(200ms));
  for (const std::size_t each : {0U, 1U}) ensemble.server(each).start();
  CHECK_FALSE(std::get<0>(setting.get()));
  CHECK(std::get<1>(get_data(client, "/services/a")).data == "later");
}
