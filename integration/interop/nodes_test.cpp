// PersistentNode and GroupMember with Curator's on the same paths.
#include "crowd.hpp"
#include "peer.hpp"
#include "support/catch.hpp"
#include "support/operations.hpp"

#include <zklock/recipes/nodes/group_member.hpp>
#include <zklock/recipes/nodes/persistent_ttl_node.hpp>

#include <optional>
#include <string>

using namespace zklock;
using namespace zklock::test;

namespace {

std::string data_of(const Client& client, const std::string& path) { return std::get<1>(get_data(client, path)).data; }

}  // namespace

TEST_CASE("Curator's persistent node keeps the path for as long as it has it, and then zklock's does") {
  testing::TestServer server;
  CuratorNodes curator{server};
  const Client client = make_client(server);
  const std::string path = "/services/a";
  REQUIRE(curator("keep EPHEMERAL plain " + path + " theirs") == path);
  const std::int64_t theirs = std::stoll(curator("session"));

  const PersistentNode node{client, path, "ours"};
  REQUIRE(eventually([&] { return node.state().phase == NodePhase::taken; }));
  CHECK(node.state().owner == theirs);
  CHECK(data_of(client, path) == "theirs");
  REQUIRE(curator("set " + path + " changed") == "yes");
  CHECK(eventually([&] { return data_of(client, path) == "changed"; }));
  CHECK(node.state().phase == NodePhase::taken);

  curator.kill();  // its node goes with its session
  CHECK(std::get<0>(outcome_of_operation<>([&](auto token) { node.async_wait_present(20s, std::move(token)); })) ==
        error_code{});
  CHECK(data_of(client, path) == "ours");
  CHECK(std::get<1>(get_data(client, path)).stat.ephemeral_owner == client.session().id());
}

TEST_CASE("zklock's persistent nodes have the names of Curator's, protected and numbered") {
  testing::TestServer server;
  CuratorNodes curator{server};
  const Client client = make_client(server);
  const std::string directory = "/services";
  const std::string theirs = curator("keep EPHEMERAL_SEQUENTIAL protected " + directory + "/n data");
  const PersistentNode node{
      client, directory + "/n", "data", {.mode = CreateMode::ephemeral_sequential, .protection = NodeProtection::on}};
  node.wait_present();
  const std::string ours = node.node_path();
  REQUIRE(ours.size() == theirs.size());
  const std::size_t tag = directory.size() + 1;
  CHECK(ours.substr(tag, 3) == "_c_");
  CHECK(ours.substr(tag + 39, 3) == "-n0");
  for (const std::size_t dash : {11U, 16U, 21U, 26U, 39U}) CHECK(ours[tag + dash] == theirs[tag + dash]);
  CHECK(ours.substr(tag + 40) == "n0000000001");
  CHECK(theirs.substr(tag + 40) == "n0000000000");
}

TEST_CASE("zklock's and Curator's members of one group see each other come, change and go") {
  testing::TestServer server;
  CuratorNodes curator{server, 4s};
  const Client client = make_client(server);
  const std::string path = "/group";
  REQUIRE(curator("join " + path + " java one") == "yes");
  auto member = std::make_optional<GroupMember>(client, path, "cpp", "two");
  const Group watching{client, path};
  CHECK(eventually([&] { return shown(member->group()) == "cpp=two,java=one"; }));
  CHECK(eventually([&] { return curator("members " + path) == "cpp=two,java=one"; }));
  CHECK(member->own());

  member->set_data("three");
  // Curator refuses until it has read the answer to its create; others may have seen the node before.
  REQUIRE(eventually([&] { return curator("payload " + path + " four") == "yes"; }));
  CHECK(eventually([&] { return shown(watching) == "cpp=three,java=four"; }));
  CHECK(eventually([&] { return curator("members " + path) == "cpp=three,java=four"; }));

  member.reset();
  CHECK(eventually([&] { return curator("members " + path) == "java=four"; }));
  CHECK(eventually([&] { return shown(watching) == "java=four"; }));
  curator.kill();
  CHECK(eventually([&] { return shown(watching).empty(); }));
}

TEST_CASE("zklock's member of a group is not overwritten by Curator's name, nor the other way round") {
  testing::TestServer server;
  CuratorNodes curator{server};
  const Client client = make_client(server);
  REQUIRE(curator("join /group same theirs") == "yes");
  CHECK(eventually([&] { return curator("members /group") == "same=theirs"; }));
  const Group group{client, "/group"};
  REQUIRE(group.wait_for(1, 10s));
  const GroupMember refused{client, "/group", "same", "ours", {.conflict = NodeConflict::fail}};
  CHECK(std::get<0>(outcome_of_operation<>([&](auto token) { refused.async_wait_present(10s, std::move(token)); })) ==
        Error::name_taken);
  CHECK_FALSE(refused.own());
  CHECK(shown(group) == "same=theirs");
}

TEST_CASE("zklock and Curator keep one node with a time to live together, and it goes after both") {
  testing::TestServer server{{.jvm_options = {"-Dzookeeper.extendedTypesEnabled=true"}}};
  CuratorNodes curator{server};
  const Client client = make_client(server);
  const std::string path = "/services/a";
  REQUIRE(curator("keep_ttl " + path + " 1000 data") == "yes");
  {
    const PersistentTtlNode node{client, path, 1s, "data"};
    node.wait_present();
    const Session session = connected_session(client);
    REQUIRE(eventually([&] { return exists(session, path + "/touch"); }));
    const auto touched = std::get<1>(get_data(client, path + "/touch")).stat.mzxid;
    curator.kill();
    CHECK(eventually([&] { return std::get<1>(get_data(client, path + "/touch")).stat.mzxid > touched + 2; }));
    CHECK(exists(session, path));
  }
  CHECK(eventually([&] { return !exists(connected_session(client), path); }));
}
