// A kept node on a fake ensemble, under a clock that the test moves: what it does when, and what it costs.
#include "kept_node_scenario.hpp"

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;
using test::play;
using test::until;

namespace {

const std::string path = "/services/shop/a";

/// Servers that end a session late, so that its nodes are still there when the client has another one.
const FakeEnsembleOptions late_servers{.tick = 4s, .latency = 1ms};

/// The requests that come to the ensemble, but for connections, as long as it exists.
class Requests {
 public:
  explicit Requests(Simulation& simulation) : simulation_{simulation} {
    simulation.ensemble().on_call([seen = seen_](const FakeCall& call) {
      if (!call.applied && call.operation != "connect") seen->push_back(std::string{call.operation});
      return FakeFault::none;
    });
  }
  ~Requests() { simulation_.ensemble().on_call({}); }
  Requests(const Requests&) = delete;
  [[nodiscard]] std::vector<std::string> take() const { return std::exchange(*seen_, {}); }

 private:
  Simulation& simulation_;
  std::shared_ptr<std::vector<std::string>> seen_ = std::make_shared<std::vector<std::string>>();
};

std::int64_t owner(const Simulation& simulation) {
  const auto found = test::find_node(simulation, path);
  return found ? found->stat.ephemeral_owner : 0;
}

/// Ends the client's session by its own clock alone: the servers still have it, and its node. Returns its id.
asio::awaitable<std::int64_t> lose_session(Simulation& simulation, const test::Kept& kept) {
  const Client& client = simulation.client("a");
  const std::int64_t lost = client.session().id();
  simulation.ensemble().refuse_connections();
  simulation.ensemble().cut(lost);
  co_await until([&] { return kept.node().state().phase == NodePhase::absent; });
  CHECK(simulation.ensemble().is_alive(lost));
  CHECK(owner(simulation) == lost);
  simulation.ensemble().accept_connections();
  co_return lost;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("the node that the client's old session has left is replaced in one transaction, without a gap") {
  play(late_servers, [](Simulation& simulation) -> asio::awaitable<void> {
    test::Kept kept{simulation, "a", path, "data"};
    co_await kept.wait_present();
    const auto gaps = std::make_shared<int>(0);
    const std::weak_ptr<int> counts = gaps;
    simulation.invariant("(gaps are counted)", [&simulation, counts] {
      if (const auto number = counts.lock(); number && !test::find_node(simulation, path)) ++*number;
      return true;
    });
    for (int i = 0; i < 8; ++i) {
      Requests requests{simulation};
      const std::int64_t lost = co_await lose_session(simulation, kept);
      co_await until([&] { return kept.node().is_present(); });
      CHECK(*gaps == 0);
      CHECK(simulation.ensemble().is_alive(lost));
      CHECK(owner(simulation) == simulation.client("a").session().id());
      CHECK(requests.take() == Names{"create", "get_children", "commit", "get_children"});
      co_await until([&] { return !simulation.ensemble().is_alive(lost); });
      co_await test::pause(100ms);
      CHECK(owner(simulation) == simulation.client("a").session().id());
    }
    co_await kept.close();
  });
}

TEST_CASE("a kept node is there again after each of 1,000 ended sessions, after one flight, with one create") {
  for (const auto& [mode, protection] : {std::pair{CreateMode::ephemeral, NodeProtection::off},
                                         std::pair{CreateMode::ephemeral_sequential, NodeProtection::on}}) {
    play({.latency = 1ms}, [mode = mode, protection = protection](Simulation& simulation) -> asio::awaitable<void> {
      PersistentNodeOptions options;
      options.mode = mode;
      options.protection = protection;
      test::Kept neighbour{simulation, "b", "/services/shop/b", "data"};  // so that the directory stays
      co_await neighbour.wait_present();
      test::Kept kept{simulation, "a", path, "data", options};
      co_await kept.wait_present();
      for (int i = is_sequential(mode) ? 800 : 0; i < 1000; ++i) {
        Requests requests{simulation};
        const std::int64_t lost = simulation.client("a").session().id();
        const std::int64_t before = kept.node().state().czxid;
        simulation.ensemble().expire(lost);
        co_await until([&] { return kept.node().is_present() && kept.node().state().czxid > before; });
        CHECK(test::nodes_in(simulation, "/services/shop").size() == 2);
        CHECK(test::find_node(simulation, kept.node().node_path())->stat.ephemeral_owner ==
              simulation.client("a").session().id());
        CHECK(requests.take() == Names{"create", "get_children"});
      }
      co_await kept.close();
      co_await neighbour.close();
    });
  }
}

TEST_CASE("a kept node costs two requests at the start, one for its data and one at the end, and nothing in between") {
  play({.latency = 1ms}, [](Simulation& simulation) -> asio::awaitable<void> {
    test::Kept first{simulation, "b", "/services/shop/b", "data"};  // so that the directory is there
    co_await first.wait_present();
    Requests requests{simulation};
    test::Kept kept{simulation, "a", path, "data"};
    co_await kept.wait_present();
    CHECK(requests.take() == Names{"create", "get_children"});
    co_await kept.set("next");
    CHECK(requests.take() == Names{"set_data"});
    simulation.ensemble().cut(simulation.client("a").session().id());
    co_await test::pause(10min / 4);
    CHECK(kept.node().is_present());
    CHECK(requests.take().empty());
    co_await kept.close();
    CHECK(requests.take() == Names{"remove"});
    co_await first.close();
  });
}

TEST_CASE("a late write of an old session is undone, and another client's is not") {
  play(late_servers, [](Simulation& simulation) -> asio::awaitable<void> {
    test::Kept kept{simulation, "a", path, "old"};
    co_await kept.wait_present();
    simulation.ensemble().on_call(
        [](const FakeCall& call) { return call.operation == "set_data" ? FakeFault::cut : FakeFault::none; });
    simulation.ensemble().refuse_connections();
    kept.node().async_set_data("late", [](error_code) {});
    co_await until([&] { return kept.node().state().phase == NodePhase::suspect; });
    simulation.ensemble().on_call({});
    kept.node().async_set_data("new", [](error_code) {});
    co_await lose_session(simulation, kept);
    co_await kept.wait_present();
    co_await until([&] { return test::find_node(simulation, path)->data == "new"; });
    simulation.ensemble().set_data(path, "late");
    co_await until([&] { return test::find_node(simulation, path)->data == "new"; });
    co_await test::pause(30s);
    simulation.ensemble().set_data(path, "foreign");  // the first is told by the watch that was set for late writes
    co_await test::pause(1s);
    CHECK(test::find_node(simulation, path)->data == "foreign");
    co_await kept.close();
  });
}

TEST_CASE("a kept node of each kind that is deleted while the link is away is made again, by the same session") {
  const CreateMode mode = GENERATE(CreateMode::ephemeral, CreateMode::persistent, CreateMode::ephemeral_sequential);
  play({.latency = 1ms}, [mode](Simulation& simulation) -> asio::awaitable<void> {
    PersistentNodeOptions options;
    options.mode = mode;
    if (mode == CreateMode::ephemeral_sequential) options.protection = NodeProtection::on;
    test::Kept kept{simulation, "a", path, "data", options};
    co_await kept.wait_present();
    const std::int64_t session = simulation.client("a").session().id();
    for (int i = 0; i < 3; ++i) {
      const auto before = test::find_node(simulation, kept.node().node_path());
      REQUIRE(before);
      simulation.ensemble().refuse_connections();
      simulation.ensemble().cut(session);
      co_await test::pause(10ms);
      simulation.delete_as_operator(before->path);
      simulation.ensemble().accept_connections();
      std::optional<FakeNode> again;
      for (int tries = 0; tries < 5'000 && !again; ++tries) {
        co_await test::pause(1ms);
        if (kept.node().is_present()) again = test::find_node(simulation, kept.node().node_path());
      }
      REQUIRE(again);
      CHECK(again->stat.czxid > before->stat.czxid);
      CHECK(again->data == "data");
      CHECK(simulation.client("a").session().id() == session);
    }
    co_await kept.close();
  });
}

TEST_CASE("a node that others delete again and again, or that is refused, is not tried at full speed") {
  play({.latency = 1ms}, [](Simulation& simulation) -> asio::awaitable<void> {
    test::Kept kept{simulation, "a", path, "data"};
    co_await kept.wait_present();
    for (int round = 0; round < 2; ++round) {
      Requests requests{simulation};
      int failing = 0;
      int absent = 0;
      for (const Clock::time_point end = Clock::now() + 60s; Clock::now() < end; co_await test::pause(10ms)) {
        const NodeState now = kept.node().state();
        absent += now.phase == NodePhase::absent ? 1 : 0;
        failing += now.phase == NodePhase::failing && now.error == Error::no_node ? 1 : 0;
        if (test::find_node(simulation, path)) simulation.ensemble().remove(path);
      }
      CHECK(requests.take().size() < 200);
      CHECK(failing > 5'000);
      CHECK(absent < 100);
      co_await kept.wait_present();
      co_await test::pause(5s);
      CHECK(kept.node().is_present());
    }
    co_await kept.close();
  });
  play({.latency = 1ms}, [](Simulation& simulation) -> asio::awaitable<void> {
    PersistentNodeOptions options;
    options.parents = CreateOptions::Parents::none;
    test::Kept kept{simulation, "a", "/missing/a", "data", options};
    Requests requests{simulation};
    co_await test::pause(5min);
    CHECK(kept.node().state().phase == NodePhase::failing);
    CHECK(requests.take().size() < 300);
    co_await kept.close();
  });
}

TEST_CASE("a takeover is done once a session, and a client of an earlier node waits") {
  play({.latency = 1ms}, [](Simulation& simulation) -> asio::awaitable<void> {
    PersistentNodeOptions options;
    options.conflict = NodeConflict::take_over;
    test::Kept first{simulation, "a", path, "a", options};
    co_await first.wait_present();
    test::Kept second{simulation, "b", path, "b", options};
    co_await until([&] { return second.node().is_present(); });
    co_await test::pause(1s);
    const auto before = test::find_node(simulation, path);
    co_await test::pause(60s);
    CHECK(test::find_node(simulation, path)->stat.czxid == before->stat.czxid);
    CHECK(first.node().is_present() != second.node().is_present());
    co_await first.close();
    co_await second.close();
  });
}

TEST_CASE("what the owner of a node that was taken over does before it hears of it does not last") {
  const bool closes = GENERATE(false, true);
  play({.latency = 10ms}, [closes](Simulation& simulation) -> asio::awaitable<void> {
    PersistentNodeOptions options;
    options.conflict = NodeConflict::take_over;
    // One that takes over would take the node back before it writes.
    test::Kept first{simulation, "a", path, "a", closes ? options : PersistentNodeOptions{}};
    co_await first.wait_present();
    test::Kept second{simulation, "b", path, "b", options};
    while (owner(simulation) == simulation.client("a").session().id()) co_await test::pause(1ms);
    const auto taken = test::find_node(simulation, path);
    CHECK(first.node().state().phase == NodePhase::present);
    if (closes)
      co_await first.close();
    else
      first.node().async_set_data("late", asio::bind_executor(simulation.executor(), [](error_code) {}));
    co_await test::pause(5s);
    const auto last = test::find_node(simulation, path);
    REQUIRE(last);
    CHECK(last->stat.czxid == taken->stat.czxid);
    CHECK(last->data == "b");
    CHECK(second.node().is_present());
    if (!closes) co_await first.close();
    co_await second.close();
  });
}

TEST_CASE("two that take a node of no session over do not write over each other for ever") {
  play({.latency = 1ms}, [](Simulation& simulation) -> asio::awaitable<void> {
    PersistentNodeOptions options;
    options.mode = CreateMode::persistent;
    options.conflict = NodeConflict::take_over;
    test::Kept first{simulation, "a", path, "a", options};
    co_await until([&] { return first.node().is_present(); });
    test::Kept second{simulation, "b", path, "b", options};
    co_await until([&] { return second.node().is_present(); });
    co_await test::pause(1s);
    const auto before = test::find_node(simulation, path);
    co_await test::pause(60s);
    const auto after = test::find_node(simulation, path);
    REQUIRE(after);
    CHECK(after->stat.mzxid == before->stat.mzxid);
    co_await first.close();
    co_await second.close();
  });
}

TEST_CASE("a takeover that failed is tried again, and one that succeeded is not") {
  play({.latency = 1ms}, [](Simulation& simulation) -> asio::awaitable<void> {
    const Client& operating = simulation.client("operator", test::patient);
    CreateOptions with_parents;
    with_parents.creating_parents();
    co_await operating.async_create(path + "/child", "", with_parents);
    PersistentNodeOptions options;
    options.conflict = NodeConflict::take_over;
    test::Kept kept{simulation, "a", path, "data", options};
    co_await until([&] { return kept.node().state().error == Error::not_empty; });
    simulation.ensemble().remove(path + "/child");
    co_await kept.wait_present();
    simulation.ensemble().refuse_connections();
    simulation.ensemble().cut(simulation.client("a").session().id());
    simulation.ensemble().remove(path);
    co_await operating.async_create(path, "", with_parents);
    simulation.ensemble().accept_connections();
    co_await until([&] { return kept.node().state().phase == NodePhase::taken; });
    co_await test::pause(1min);
    CHECK(kept.node().state().phase == NodePhase::taken);
    co_await kept.close();
  });
}

TEST_CASE("a change of data ends with the refusal of the node that was to have them, be it created or replaced") {
  play({.latency = 1ms}, [](Simulation& simulation) -> asio::awaitable<void> {
    const Client& operating = simulation.client("operator", test::patient);
    NodeOptions closed;
    closed.acl = read_acl();
    co_await operating.async_create("/closed", "", closed);
    test::Kept refused{simulation, "a", "/closed/a", "data"};
    const auto [no_auth] = co_await refused.node().async_set_data("next", asio::as_tuple(asio::deferred));
    CHECK(no_auth == Error::no_auth);
    co_await refused.close();

    CreateOptions with_parents;
    with_parents.creating_parents();
    co_await operating.async_create("/open/a/child", "", with_parents);
    PersistentNodeOptions options;
    options.conflict = NodeConflict::take_over;
    test::Kept in_the_way{simulation, "a", "/open/a", "data", options};
    const auto [not_empty] = co_await in_the_way.node().async_set_data("next", asio::as_tuple(asio::deferred));
    CHECK(not_empty == Error::not_empty);
    simulation.ensemble().remove("/open/a/child");
    co_await in_the_way.set("last");
    co_await in_the_way.close();
  });
}

TEST_CASE("a kept node that has ended stays so when it is closed, and a wait for it ends") {
  play({.latency = 1ms}, [](Simulation& simulation) -> asio::awaitable<void> {
    CreateOptions with_parents;
    with_parents.creating_parents();
    co_await simulation.client("operator", test::patient).async_create(path, "theirs", with_parents);
    PersistentNodeOptions options;
    options.conflict = NodeConflict::fail;
    test::Kept kept{simulation, "a", path, "mine", options};
    co_await until([&] { return kept.node().state().phase == NodePhase::ended; });
    co_await kept.close();
    CHECK(kept.node().state().phase == NodePhase::ended);
    CHECK(kept.node().state().error == Error::name_taken);
    const auto [error] = co_await kept.node().async_wait_present(10s, asio::as_tuple(asio::deferred));
    CHECK((error && error != Error::timed_out));
  });
}

TEST_CASE("data that another client has written into a node of no session stay over sessions, until the next change") {
  play({.latency = 1ms}, [](Simulation& simulation) -> asio::awaitable<void> {
    const Client& operating = simulation.client("operator", test::patient);
    CreateOptions with_parents;
    with_parents.creating_parents();
    co_await operating.async_create("/services/shop/b", "", with_parents);  // so that the directory stays
    PersistentNodeOptions options;
    options.mode = CreateMode::persistent;
    test::Kept kept{simulation, "a", path, "mine", options};
    co_await kept.wait_present();
    const auto session = [&simulation] { return simulation.client("a").session().id(); };
    std::int64_t lost = session();
    simulation.ensemble().set_data(path, "theirs");
    simulation.ensemble().expire(lost);
    co_await until([&] { return session() != lost && kept.node().is_present(); });
    co_await test::pause(1s);
    CHECK(test::find_node(simulation, path)->data == "theirs");

    // So they do if the reply to a write was lost once, since that write was seen to be done.
    simulation.ensemble().on_call([is_cut = false](const FakeCall& call) mutable {
      const bool cuts = call.operation == "set_data" && call.applied && !std::exchange(is_cut, true);
      return cuts ? FakeFault::cut : FakeFault::none;
    });
    co_await kept.set("mine again");
    simulation.ensemble().on_call(nullptr);
    lost = session();
    simulation.ensemble().set_data(path, "theirs");
    co_await test::pause(1s);
    simulation.ensemble().expire(lost);
    co_await until([&] { return session() != lost && kept.node().is_present(); });
    co_await test::pause(1s);
    CHECK(test::find_node(simulation, path)->data == "theirs");

    for (const bool ends_session : {false, true}) {
      const std::int64_t before = kept.node().state().czxid;
      lost = session();
      simulation.ensemble().refuse_connections();
      simulation.ensemble().cut(lost);
      simulation.ensemble().remove(path);
      co_await operating.async_create(path, "another", with_parents);
      if (ends_session) simulation.ensemble().expire(lost);
      simulation.ensemble().accept_connections();
      co_await until([&] { return kept.node().is_present() && kept.node().state().czxid > before; });
      CHECK((session() != lost) == ends_session);
      co_await test::pause(1s);
      CHECK(test::find_node(simulation, path)->data == "another");
    }
    co_await kept.set("next");
    CHECK(test::find_node(simulation, path)->data == "next");
    co_await kept.close();
  });
}

TEST_CASE("new data do not wait because those before them were refused") {
  play({.latency = 5ms}, [](Simulation& simulation) -> asio::awaitable<void> {
    NodeOptions closed;
    closed.acl = read_acl();
    co_await simulation.client("operator", test::patient).async_create("/closed", "", closed);
    test::Kept kept{simulation, "a", "/closed/a", "data"};
    co_await until([&] { return kept.node().state().phase == NodePhase::failing; });
    for (int i = 0; i < 3; ++i) {
      co_await test::pause(1min);  // the tries are rare by now
      kept.node().async_set_data("next", [](error_code) {});
      co_await test::pause(2ms);  // they are on their way
      const Clock::time_point began = Clock::now();
      const auto [error] = co_await kept.node().async_set_data("last", asio::as_tuple(asio::deferred));
      CHECK(error == Error::no_auth);
      CHECK(Clock::now() - began < 100ms);
    }
    co_await kept.close();
  });
}
