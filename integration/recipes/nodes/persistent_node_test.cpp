// PersistentNode against a real server.
#include "node_fixture.hpp"
#include "support/catch.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/post.hpp>

#include <future>
#include <vector>

using namespace zklock;
using namespace zklock::test;

namespace {

struct Fixture : NodeFixture {
  [[nodiscard]] PersistentNode keep(std::string data, PersistentNodeOptions options = {}) const {
    return PersistentNode{other, node_path, std::move(data), std::move(options)};
  }
};

PersistentNodeOptions with(CreateMode mode, NodeProtection protection = NodeProtection::off) {
  PersistentNodeOptions options;
  options.mode = mode;
  options.protection = protection;
  return options;
}

PersistentNodeOptions with(NodeConflict conflict) {
  PersistentNodeOptions options;
  options.conflict = conflict;
  return options;
}

PersistentNodeOptions without_parents() {
  PersistentNodeOptions options;
  options.parents = CreateOptions::Parents::none;
  return options;
}

}  // namespace

TEST_CASE_METHOD(Fixture, "a persistent node is an ephemeral node with its data, and goes when it is closed") {
  const PersistentNode node = keep("data");
  node.wait_present();
  CHECK(node.node_path() == node_path);
  CHECK(data_of(node_path) == "data");
  const auto stat = stat_of(session, node_path);
  REQUIRE(stat);
  CHECK(stat->ephemeral_owner == other.session().id());
  CHECK(node.state().czxid == stat->czxid);
  node.close();
  CHECK_FALSE(exists(session, node_path));
  CHECK(node.state().phase == NodePhase::ended);
  CHECK(wait_present(node, 0ms) == Error::closed);
  node.close();
  CHECK(eventually([&] { return leaves_no_trace(server, session, path); }));
}

TEST_CASE_METHOD(Fixture, "a persistent node goes when its object does, whether the node was there yet or not") {
  for (int i = 0; i < 10; ++i) {
    PersistentNode node = keep("data");
    if (i % 2 == 0) node.wait_present();
  }
  CHECK(eventually([&] { return leaves_no_trace(server, session, path); }));
  REQUIRE_FALSE(create(other, node_path, "", CreateOptions{CreateMode::ephemeral}.creating_parent_containers()));
  const PersistentNode taken = keep("data");
  taken.wait_present();
  CHECK_FALSE(close(taken));  // the node of the same session is the client's own
  CHECK(eventually([&] { return leaves_no_trace(server, session, path); }));
}

TEST_CASE_METHOD(Fixture, "each mode of a persistent node has Curator's name, and its node goes when it is closed") {
  struct Row {
    CreateMode mode;
    NodeProtection protection;
    std::size_t extra;  // characters before and after the name
  };
  const Row rows[] = {{CreateMode::ephemeral, NodeProtection::off, 0},
                      {CreateMode::ephemeral, NodeProtection::on, 40},
                      {CreateMode::ephemeral_sequential, NodeProtection::off, 10},
                      {CreateMode::ephemeral_sequential, NodeProtection::on, 50},
                      {CreateMode::persistent, NodeProtection::off, 0},
                      {CreateMode::persistent, NodeProtection::on, 40},
                      {CreateMode::persistent_sequential, NodeProtection::on, 50}};
  for (const Row& row : rows) {
    CAPTURE(static_cast<int>(row.mode), row.extra);
    const PersistentNode node = keep("data", with(row.mode, row.protection));
    node.wait_present();
    const std::string name = node.node_path().substr(path.size() + 1);
    CHECK(name.size() == 1 + row.extra);
    CHECK(name.starts_with(row.protection == NodeProtection::on ? "_c_" : "a"));
    CHECK(children_of(session, path) == std::vector<std::string>{name});
    CHECK(owner(node.node_path()) == (is_ephemeral(row.mode) ? other.session().id() : 0));
    node.close();
    CHECK(children_of(session, path).empty());
  }
}

TEST_CASE_METHOD(Fixture, "modes that nothing could keep are refused, and so are bad paths") {
  for (const CreateMode mode : {CreateMode::container, CreateMode::persistent_ttl,
                                CreateMode::persistent_sequential_ttl, CreateMode::persistent_sequential})
    CHECK_THROWS_AS(keep("", with(mode)), boost::system::system_error);
  for (const char* bad : {"a", "/", "/a//b", "/a/"})
    CHECK_THROWS_AS(PersistentNode(client, bad, ""), boost::system::system_error);
  PersistentNode from = keep("data");
  const PersistentNode to = std::move(from);
  CHECK_THROWS_AS(from.wait_present(), boost::system::system_error);
  CHECK_THROWS_AS(from.state(), boost::system::system_error);
  to.wait_present();
}

TEST_CASE_METHOD(Fixture, "a persistent node that others delete is created again") {
  for (const auto& options : {with(CreateMode::ephemeral), with(CreateMode::persistent),
                              with(CreateMode::ephemeral_sequential, NodeProtection::on)}) {
    const PersistentNode node = keep("data", options);
    node.wait_present();
    const std::string name = node.node_path();
    for (int i = 0; i < 3; ++i) {
      const std::int64_t before = node.state().czxid;
      delete_node(name);
      CHECK(eventually([&] { return node.state().czxid > before && node.is_present(); }));
      CHECK(data_of(name) == "data");
      CHECK(node.node_path() == name);
    }
    CHECK_FALSE(close(node));
  }
}

TEST_CASE_METHOD(Fixture, "a persistent node that is deleted with its directory is created with it again") {
  const PersistentNode node = keep("data");
  node.wait_present();
  const error_code error = test::remove(client, path, RemoveOptions{}.deleting_children());
  CHECK((!error || error == Error::no_node));  // the server deletes it, too, once it is empty
  CHECK(eventually([&] { return exists(session, node_path); }));
  CHECK(wait_present(node, 20s) == error_code{});
}

TEST_CASE_METHOD(Fixture, "the data of a persistent node are those that were set last") {
  const PersistentNode node = keep("0");
  node.set_data("1");  // before it is there
  CHECK(data_of(node_path) == "1");
  const std::int32_t before = stat_of(session, node_path)->version;
  std::vector<Pending<>> all(50);
  std::promise<void> all_are_set;
  asio::post(other.get_executor(), [set = all_are_set.get_future().share()] { set.wait(); });  // nothing is sent before
  for (std::size_t i = 0; i < all.size(); ++i) node.async_set_data(std::to_string(i), all[i].handler());
  all_are_set.set_value();
  for (auto& each : all) CHECK_FALSE(std::get<0>(each.get()));
  CHECK(data_of(node_path) == "49");
  CHECK(stat_of(session, node_path)->version == before + 1);
  delete_node(node_path);
  CHECK(eventually([&] { return exists(session, node_path); }));
  CHECK(data_of(node_path) == "49");
  CHECK(node.data() == "49");
}

TEST_CASE_METHOD(Fixture, "a persistent node writes its data over those of an existing node of its session") {
  REQUIRE_FALSE(create(other, node_path, "before", CreateOptions{CreateMode::ephemeral}.creating_parent_containers()));
  const PersistentNode node = keep("data");
  node.wait_present();
  CHECK(data_of(node_path) == "data");
}

TEST_CASE_METHOD(Fixture, "data that another client has written over stay, until the next are set") {
  const PersistentNode node = keep("data");
  node.wait_present();
  REQUIRE_FALSE(std::get<0>(set_data(client, node_path, "foreign")));
  CHECK(wait_present(node, 0ms) == error_code{});
  CHECK(data_of(node_path) == "foreign");
  node.set_data("next");
  CHECK(data_of(node_path) == "next");
}

TEST_CASE_METHOD(Fixture,
                 "a node of another client is not touched: the object waits, fails, or takes over, as it was told") {
  REQUIRE_FALSE(
      create(client, node_path, "foreign", CreateOptions{CreateMode::ephemeral}.creating_parent_containers()));
  CHECK(wait_present(keep("data", with(NodeConflict::fail)), 10s) == Error::name_taken);
  CHECK(data_of(node_path) == "foreign");

  const PersistentNode waiting = keep("waiting");
  REQUIRE(eventually_in(waiting, NodePhase::taken));
  CHECK(waiting.state().owner == session.id());
  CHECK(wait_present(waiting, 100ms) == Error::timed_out);
  CHECK_FALSE(waiting.wait_present(0ms));
  CHECK(data_of(node_path) == "foreign");
  delete_node(node_path);
  waiting.wait_present();
  CHECK(data_of(node_path) == "waiting");
  CHECK_FALSE(close(waiting));

  REQUIRE_FALSE(
      create(client, node_path, "foreign", CreateOptions{CreateMode::persistent}.creating_parent_containers()));
  const PersistentNode taking = keep("taking", with(NodeConflict::take_over));
  taking.wait_present();
  CHECK(owner(node_path) == other.session().id());
  delete_node(node_path);
  REQUIRE(eventually([&] { return exists(session, node_path); }));
}

TEST_CASE_METHOD(Fixture, "two takeovers do not delete each other's node for ever") {
  const PersistentNode first{client, node_path, "first", with(NodeConflict::take_over)};
  first.wait_present();
  const PersistentNode second = keep("second", with(NodeConflict::take_over));
  second.wait_present();
  CHECK(eventually_in(first, NodePhase::present));  // it takes over, too, and then
  CHECK(eventually_in(second, NodePhase::taken));   // neither does so again
  const auto before = stat_of(session, node_path);
  CHECK_FALSE(std::get<0>(outcome_of_operation<>(
                  [&](auto token) { second.async_wait_present(300ms, std::move(token)); })) == error_code{});
  CHECK(stat_of(session, node_path) == before);
}

TEST_CASE_METHOD(Fixture, "of two objects of one client on one path one has it, and then the other") {
  auto first = std::make_unique<PersistentNode>(keep("first"));
  first->wait_present();
  CHECK(wait_present(keep("no", with(NodeConflict::fail)), 10s) == Error::name_taken);
  const PersistentNode second = keep("second");
  REQUIRE(eventually_in(second, NodePhase::taken));
  CHECK(data_of(node_path) == "first");
  first.reset();
  second.wait_present();
  CHECK(data_of(node_path) == "second");
}

TEST_CASE_METHOD(Fixture, "a foreign child of a persistent node keeps it, which the close reports") {
  const PersistentNode node = keep("data", with(CreateMode::persistent));
  node.wait_present();
  REQUIRE_FALSE(create(client, node_path + "/child"));
  CHECK(close(node) == Error::not_empty);
  REQUIRE_FALSE(test::remove(client, node_path, RemoveOptions{}.deleting_children()));
}

TEST_CASE_METHOD(Fixture,
                 "without its parents a persistent node fails until they are there, if it may not create them") {
  const PersistentNode node = keep("data", without_parents());
  REQUIRE(eventually_in(node, NodePhase::failing));
  CHECK(node.state().error == Error::no_node);
  CHECK_FALSE(exists(session, path));
  REQUIRE_FALSE(create(client, path, "", CreateOptions{CreateMode::persistent}.creating_parents()));
  node.wait_present();
  REQUIRE_FALSE(test::remove(client, path, RemoveOptions{}.deleting_children()));
  REQUIRE(eventually_in(node, NodePhase::failing));
  CHECK_FALSE(exists(session, path));
}

TEST_CASE_METHOD(Fixture, "a persistent node that the servers refuse is tried more and more slowly, and says why") {
  REQUIRE_FALSE(create(client, path, "", CreateOptions{CreateMode::persistent}.creating_parents()));
  REQUIRE_FALSE(std::get<0>(outcome_of_operation<>(
      [&](auto token) { client.async_set_acl(path, read_acl(), any_version, std::move(token)); })));
  const auto before = server.monitor("zk_packets_received");
  const PersistentNode node = keep("data");
  REQUIRE(eventually_in(node, NodePhase::failing));
  CHECK(node.state().error == Error::no_auth);
  CHECK(wait_present(node, 2s) == Error::timed_out);
  CHECK(server.monitor("zk_packets_received") - before < 60);
  CHECK_FALSE(close(node));
}

TEST_CASE_METHOD(Fixture, "data that the servers refuse are reported, and the node stays") {
  PersistentNodeOptions options;
  options.acl = Acl{{Permission::read | Permission::create | Permission::remove, "world", "anyone"}};
  const PersistentNode node = keep("data", options);
  node.wait_present();
  const auto [error] = outcome_of_operation<>([&](auto token) { node.async_set_data("next", std::move(token)); });
  CHECK(error == Error::no_auth);
  CHECK(data_of(node_path) == "data");
  CHECK(node.state().phase == NodePhase::failing);
  CHECK_FALSE(close(node));
}

TEST_CASE_METHOD(Fixture, "a node that its client may not read cannot be watched, which is said") {
  PersistentNodeOptions options;
  options.acl =
      Acl{{Permission::write | Permission::create | Permission::remove, "world", "anyone"}};  // of parents, too
  const PersistentNode node = keep("data", options);
  REQUIRE(eventually_in(node, NodePhase::failing));
  CHECK(node.state().error == Error::no_auth);
  CHECK(server.monitor("zk_ephemerals_count") == 1);
  const bool is_hidden = refuses_exists(server);  // then the client cannot tell that the node is its own
  CHECK(close(node) == (is_hidden ? make_error_code(Error::no_auth) : error_code{}));
  if (is_hidden) other.close();
  CHECK(eventually([&] { return server.monitor("zk_ephemerals_count") == 0; }));
}

TEST_CASE_METHOD(
    Fixture, "waits for a persistent node end alone when they are cancelled, and are refused where they would block") {
  REQUIRE_FALSE(create(client, node_path, "", CreateOptions{CreateMode::ephemeral}.creating_parent_containers()));
  const PersistentNode node = keep("data");
  asio::cancellation_signal signal;
  Pending<> waiting;
  node.async_wait_present(asio::bind_cancellation_slot(signal.slot(), waiting.handler()));
  CHECK_FALSE(waiting.ready(50ms));
  signal.emit(asio::cancellation_type::total);
  CHECK(std::get<0>(waiting.get()) == asio::error::operation_aborted);
  Pending<> refused;
  asio::post(other.get_executor(), [&, handler = refused.handler()]() mutable {
    try {
      node.wait_present();
      handler(error_code{});
    } catch (const boost::system::system_error& error) {
      handler(error.code());
    }
  });
  CHECK(std::get<0>(refused.get()) == Error::blocking_in_handler);
  delete_node(node_path);
  node.wait_present();
}

TEST_CASE_METHOD(Fixture, "a persistent node in a namespace is in it, and so are its parents") {
  const ClientHandle inside = other.using_namespace(path.substr(1));
  const PersistentNode node{inside, "/b/c", "data"};
  node.wait_present();
  CHECK(data_of(path + "/b/c") == "data");
  const PersistentNode flat{inside, "/flat", "data", without_parents()};
  flat.wait_present();
  CHECK(data_of(path + "/flat") == "data");
}

TEST_CASE_METHOD(Fixture, "the states of a persistent node come as a stream, and end with it") {
  auto node = std::make_unique<PersistentNode>(keep("data"));
  NodeStateStream states = node->states();
  const auto next = [&] {
    return outcome_of_operation<NodeState>([&](auto token) { states.async_next(std::move(token)); });
  };
  NodeState state;
  while (state.phase != NodePhase::present) state = std::get<1>(next());
  CHECK(state == node->state());
  delete_node(node_path);
  CHECK(std::get<1>(next()).phase == NodePhase::absent);
  CHECK(std::get<1>(next()).phase == NodePhase::present);
  node.reset();
  CHECK(std::get<1>(next()).phase == NodePhase::absent);
  CHECK(std::get<1>(next()).phase == NodePhase::ended);
  CHECK(std::get<0>(next()) == Error::closing);
}
