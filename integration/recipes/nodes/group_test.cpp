// GroupMember and Group against a real server.
#include "group_fixture.hpp"
#include "support/catch.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>

#include <optional>

using namespace zklock;
using namespace zklock::test;

namespace {

std::string next(GroupChangeStream& changes) {
  const auto [error, change] =
      outcome_of_operation<GroupChange>([&](auto token) { changes.async_next(std::move(token)); });
  return error ? error.message() : text_of(change);
}

}  // namespace

TEST_CASE_METHOD(GroupFixture, "the members of a group are those that are there, with their payloads") {
  CHECK(group.wait_for(0, 10s));
  CHECK(shown(group).empty());
  const GroupMember a{other, path, "a", "1"};
  CHECK(group.wait_for(1, 10s));
  CHECK_FALSE(group.wait_for(2, 50ms));
  CHECK(shown(group) == "a=1 ");
  const Member member = group.members().members.at("a");
  CHECK(member.session == other.session().id());
  CHECK(member.czxid == stat_of(session, path + "/a")->czxid);
  CHECK(member.since == stat_of(session, path + "/a")->created);
  auto b = std::make_optional<GroupMember>(client, path, "b", "2");
  CHECK(eventually_shown("a=1 b=2 "));
  CHECK(group.members().ids() == std::vector<std::string>{"a", "b"});
  CHECK(eventually([&] { return shown(a.group()) == "a=1 b=2 "; }));
  b->set_data("3");
  CHECK(eventually_shown("a=1 b=3 "));
  b.reset();
  CHECK(eventually_shown("a=1 "));
  CHECK_FALSE(close(a));
  CHECK(eventually_shown(""));
}

TEST_CASE_METHOD(GroupFixture, "a member's own entry is there while its node is, and no longer") {
  CHECK(group.wait_for(0, 10s));
  const GroupMember a{other, path, "a", "1"};
  CHECK(a.id() == "a");
  REQUIRE(eventually([&] { return a.own().has_value(); }));
  CHECK(a.own()->payload == "1");
  const std::int64_t before = a.own()->czxid;
  delete_node(path + "/a");
  CHECK(eventually([&] { return a.own() && a.own()->czxid > before; }));
  CHECK_FALSE(close(a));
  CHECK_FALSE(a.own());
}

TEST_CASE_METHOD(GroupFixture, "two clients that join under one id are one member, and the second one is told so") {
  const GroupMember first{client, path, "same", "first"};
  REQUIRE(group.wait_for(1, 10s));
  const GroupMember refused{other, path, "same", "refused", {.conflict = NodeConflict::fail}};
  CHECK(wait_present(refused, 10s) == Error::name_taken);
  auto waiting = std::make_optional<GroupMember>(other, path, "same", "waiting");
  REQUIRE(eventually([&] { return waiting->state().phase == NodePhase::taken; }));
  CHECK_FALSE(waiting->own());
  waiting.reset();
  CHECK(shown(group) == "same=first ");
  CHECK(exists(session, path + "/same"));
}

TEST_CASE_METHOD(GroupFixture, "the changes of a group add up to its members") {
  GroupChangeStream changes = group.changes();
  auto a = std::make_optional<GroupMember>(other, path, "a", "1");
  CHECK(next(changes) == "joined a=1");
  a->set_data("2");
  CHECK(next(changes) == "changed a=2");
  auto b = std::make_optional<GroupMember>(client, path, "b", "3");
  CHECK(next(changes) == "joined b=3");
  GroupChangeStream later = group.changes();
  CHECK(next(later) == "joined a=2");
  CHECK(next(later) == "joined b=3");
  a.reset();
  CHECK(next(changes) == "left a=2");
  delete_node(path + "/b");  // it joins again
  CHECK(next(changes) == "left b=3");
  CHECK(next(changes) == "joined b=3");
  asio::cancellation_signal signal;
  Pending<GroupChange> waiting;
  changes.async_next(asio::bind_cancellation_slot(signal.slot(), waiting.handler()));
  CHECK_FALSE(waiting.ready(20ms));
  signal.emit(asio::cancellation_type::terminal);
  CHECK(std::get<0>(waiting.get()) == asio::error::operation_aborted);
  group = Group{client, path};
  CHECK(next(changes) == make_error_code(Error::closing).message());
}

TEST_CASE_METHOD(GroupFixture,
                 "every child of a group's directory is a member, also one without data or with another mode") {
  REQUIRE_FALSE(create(client, path + "/x", "", CreateOptions{CreateMode::persistent}.creating_parents()));
  REQUIRE_FALSE(create(client, path + "/y", "data", CreateMode::ephemeral));
  CHECK(eventually_shown("x= y=data "));
  CHECK(group.members().members.at("x").session == 0);
  REQUIRE_FALSE(create(client, path + "/z", "secret",
                       NodeOptions{CreateMode::persistent, Acl{{Permission::remove, "world", "anyone"}}}));
  CHECK(eventually_shown("x= y=data z= "));
  delete_node(path + "/z");  // whose children its ACL hides
  REQUIRE_FALSE(test::remove(client, path, RemoveOptions{}.deleting_children()));
  CHECK(eventually_shown(""));
  REQUIRE_FALSE(create(client, path + "/w", "again", CreateOptions{CreateMode::persistent}.creating_parents()));
  CHECK(eventually_shown("w=again "));
}

TEST_CASE_METHOD(GroupFixture, "ids that are no names of nodes are refused, and so are bad paths") {
  for (const char* bad : {"", "a/b", ".", "..", "a\n"})
    CHECK_THROWS_AS(GroupMember(client, path, bad), boost::system::system_error);
  CHECK_THROWS_AS(Group(client, "group"), boost::system::system_error);
  CHECK_THROWS_AS(GroupMember(client, "group", "a"), boost::system::system_error);
  Group from{client, path};
  const Group to = std::move(from);
  CHECK_THROWS_AS(from.members(), boost::system::system_error);
  CHECK(to.path() == path);
}

TEST_CASE_METHOD(GroupFixture, "a group that is not followed any more leaves no watch") {
  {
    const GroupMember a{other, path, "a", "1"};
    REQUIRE(group.wait_for(1, 10s));
    CHECK(server.monitor("zk_watch_count") > 0);
  }
  { const Group gone = std::move(group); }
  CHECK(eventually([&] { return leaves_no_trace(server, session, path); }));
}
