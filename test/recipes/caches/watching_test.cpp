// Watches on the fake ensemble: what they show, and what they ask for.
#include "support/follow_stage.hpp"

#include <zklock/recipes/caches/watching.hpp>

using namespace zklock;
using namespace zklock::test;
using namespace std::chrono_literals;

namespace {

using Kind = DataChange::Kind;
using Names = std::vector<std::string>;
using Requests = std::map<std::string, int>;

const std::string path = "/app";
const Acl unreadable{
    {Permission::write | Permission::create | Permission::remove | Permission::admin, "world", "anyone"}};

struct Fixture : FollowStage {
  DataWatch data() {
    DataWatch watch = watch_data(reader, path);
    run();
    return watch;
  }
  ChildrenWatch children() {
    ChildrenWatch watch = watch_children(reader, path);
    run();
    return watch;
  }
  void set_acl(const Acl& acl) {
    const auto set = outcome<>([&](auto token) { writer.async_set_acl(path, acl, any_version, std::move(token)); });
    REQUIRE(set == std::tuple{error_code{}});
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a watch of data begins with the node as it is, and shows each change with one read") {
  create(path, "1");
  DataWatch watch = data();
  CHECK(requests() == Requests{{"sync", 1}, {"get_data", 1}});
  DataChange change = must_next(watch);
  CHECK(change.kind == Kind::initial);
  CHECK(change.node.value().data == "1");
  set(path, "2");
  change = must_next(watch);
  CHECK(change.kind == Kind::changed);
  CHECK(change.node.value().data == "2");
  CHECK(change.skipped == 0);
  CHECK(requests() == Requests{{"get_data", 1}});
  CHECK_FALSE(next(watch));
}

TEST_CASE_METHOD(Fixture, "a watch of data tells of a node that comes, goes and comes again") {
  DataWatch watch = data();
  CHECK(must_next(watch).kind == Kind::initial);
  create(path, "1");
  DataChange change = must_next(watch);
  CHECK(change.kind == Kind::created);
  CHECK(change.node.value().data == "1");
  remove(path);
  change = must_next(watch);
  CHECK(change.kind == Kind::deleted);
  CHECK_FALSE(change.node);
  create(path, "2");
  CHECK(must_next(watch).kind == Kind::created);
}

TEST_CASE_METHOD(Fixture, "after a lost link a watch asks whether something has changed, and reads only then") {
  create(path, "1");
  DataWatch watch = data();
  must_next(watch);
  requests();
  disconnect();
  connect();
  CHECK(requests() == Requests{{"sync", 1}});
  CHECK_FALSE(next(watch));
  disconnect();
  for (const char* later : {"2", "3", "4"}) set(path, later);
  connect();
  CHECK(requests() == Requests{{"sync", 1}, {"get_data", 1}});
  const DataChange change = must_next(watch);
  CHECK(change.node.value().data == "4");
  CHECK(change.skipped == 2);
}

TEST_CASE_METHOD(Fixture, "a watch sees that a node was deleted and created again with the same version") {
  create(path, "1");
  DataWatch watch = data();
  must_next(watch);
  disconnect();
  remove(path);
  create(path, "1");
  connect();
  CHECK(must_next(watch).kind == Kind::recreated);
  remove(path);
  create(path, "1");  // nobody has read in between
  CHECK(must_next(watch).kind == Kind::recreated);
}

TEST_CASE_METHOD(Fixture, "the read after an event is tried again when the link is lost before its reply") {
  create(path, "1");
  DataWatch watch = data();
  must_next(watch);
  ensemble.on_call([cuts = 0](const testing::FakeCall& call) mutable {
    const bool strikes = call.operation == "get_data" && cuts < 3;
    if (strikes) ++cuts;
    return strikes ? testing::FakeFault::cut : testing::FakeFault::none;
  });
  set(path, "2");
  run(5s);
  CHECK(must_next(watch).node.value().data == "2");
}

TEST_CASE_METHOD(Fixture, "a watch goes on over a new session, and says nothing if nothing has changed") {
  create(path, "1");
  DataWatch watch = data();
  must_next(watch);
  lose_session();
  CHECK_FALSE(next(watch));
  lose_session();
  set(path, "2");
  CHECK(must_next(watch).node.value().data == "2");
}

TEST_CASE_METHOD(Fixture, "a node that may not be read is shown as unreadable, and looked at again") {
  create(path, "1", NodeOptions{CreateMode::persistent, Acl{{Permission::all, "ip", "10.0.0.1"}}});
  DataWatch watch = data();
  DataChange change = must_next(watch);
  CHECK(change.kind == Kind::unreadable);
  CHECK(change.error == Error::no_auth);
  requests();
  run(35s);
  CHECK(requests()["get_data"] == 1);
  CHECK_FALSE(next(watch));
}

TEST_CASE_METHOD(Fixture, "a node that is unreadable at first was there, and what it was before does not count") {
  create(path, "1");
  set(path, "2");
  set_acl(unreadable);
  DataWatch watch = data();
  CHECK(must_next(watch).kind == Kind::unreadable);
  set_acl(open_acl());
  run(35s);
  const DataChange change = must_next(watch);
  CHECK(change.kind == Kind::changed);
  CHECK(change.node.value().data == "2");
  CHECK(change.skipped == 0);
}

TEST_CASE_METHOD(Fixture, "a node that was absent first, and then unreadable, was created since") {
  DataWatch watch = data();
  CHECK(must_next(watch).kind == Kind::initial);
  create(path, "1", NodeOptions{CreateMode::persistent, unreadable});
  CHECK(must_next(watch).kind == Kind::unreadable);
  set(path, "2");
  set(path, "3");
  set_acl(open_acl());
  run(35s);
  const DataChange change = must_next(watch);
  CHECK(change.node.value().data == "3");
  CHECK(change.skipped == 2);
}

TEST_CASE_METHOD(Fixture, "a version that is hidden for a while is not skipped when it is shown") {
  create(path, "1");
  DataWatch watch = data();
  must_next(watch);
  for (const auto& [is_slow, is_over] : {std::pair{true, false}, {false, false}, {true, true}, {false, true}}) {
    set(path, "2");  // not read before the node is unreadable
    set_acl(unreadable);
    lose_session();
    if (!is_slow) CHECK(must_next(watch).kind == Kind::unreadable);
    if (is_over) set(path, "3");
    set_acl(open_acl());
    run(35s);
    const DataChange change = must_next(watch);
    CHECK(change.kind == Kind::changed);
    CHECK(change.node.value().data == (is_over ? "3" : "2"));
    CHECK(change.skipped == (is_over ? 1 : 0));
  }
}

TEST_CASE_METHOD(Fixture, "what came and went while a list could not be read is counted, and nothing else") {
  create(path);
  create(path + "/a");
  create(path + "/x");
  remove(path + "/x");
  ChildrenWatch watch = children();
  must_next(watch);
  set_acl(unreadable);
  remove(path + "/a");
  ChildrenChange change = must_next(watch);
  CHECK(change.error == Error::no_auth);
  CHECK(change.removed == Names{"a"});
  CHECK(change.unseen == 0);
  create(path + "/b");
  create(path + "/y");
  remove(path + "/y");
  set_acl(open_acl());
  run(35s);
  change = must_next(watch);
  CHECK(change.added == Names{"b"});
  CHECK(change.unseen == 1);

  set_acl(unreadable);
  ChildrenWatch late = children();
  CHECK(must_next(late).error == Error::no_auth);
  set_acl(open_acl());
  run(35s);
  change = must_next(late);
  CHECK(change.added == Names{"b"});
  CHECK(change.unseen == 0);
}

TEST_CASE_METHOD(Fixture, "a watch of children shows who came and went, and counts what nobody saw") {
  create(path);
  create(path + "/a");
  ChildrenWatch watch = children();
  CHECK(requests() == Requests{{"sync", 1}, {"get_children", 1}});
  ChildrenChange change = must_next(watch);
  CHECK(change.added == Names{"a"});
  CHECK(change.names == Names{"a"});
  create(path + "/b");
  create(path + "/c");
  remove(path + "/c");
  change = must_next(watch);
  CHECK(change.added == Names{"b"});
  CHECK(change.unseen == 1);
  requests();
  disconnect();
  remove(path + "/a");
  create(path + "/a");
  create(path + "/x");
  remove(path + "/x");
  connect();
  change = must_next(watch);
  CHECK(change.names == Names{"a", "b"});
  CHECK(change.added.empty());
  CHECK(change.unseen == 2);
  CHECK(requests() == Requests{{"sync", 1}, {"get_children", 1}});
  set(path, "new data");
  CHECK_FALSE(next(watch));
}

TEST_CASE_METHOD(Fixture, "a watch of children goes on when the node is deleted and created again") {
  ChildrenWatch watch = children();
  CHECK_FALSE(must_next(watch).stat);
  create(path);
  CHECK(must_next(watch).stat);
  create(path + "/a");
  CHECK(must_next(watch).added == Names{"a"});
  disconnect();
  remove(path + "/a");
  remove(path);
  create(path);
  create(path + "/a");
  connect();
  const ChildrenChange change = must_next(watch);
  CHECK(change.removed == Names{"a"});  // another node of that name
  CHECK(change.added == Names{"a"});
  remove(path + "/a");
  remove(path);
  CHECK_FALSE(must_next(watch).stat);
}

TEST_CASE_METHOD(Fixture, "a watch leaves nothing at the server when its stream is gone, and ends with its client") {
  create(path);
  {
    const DataWatch data_watch = data();
    const ChildrenWatch children_watch = children();
    CHECK(ensemble.watches().size() == 2);
  }
  run();
  CHECK(ensemble.watches().empty());
  DataWatch watch = data();
  must_next(watch);
  CHECK(outcome<>([&](auto token) { reader.async_close(std::move(token)); }));
  const auto ended = outcome<DataChange>([&](auto token) { watch.async_next(std::move(token)); });
  CHECK(std::get<0>(ended.value()) == Error::closing);
}

TEST_CASE_METHOD(Fixture, "a watch refuses a bad path") {
  CHECK_THROWS_AS(watch_data(reader, "app"), boost::system::system_error);
  CHECK_THROWS_AS(watch_children(reader, "/app/"), boost::system::system_error);
}
