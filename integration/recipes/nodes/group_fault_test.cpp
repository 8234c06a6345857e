// Groups over killed members, ended sessions and lost links.
#include "group_fixture.hpp"
#include "support/catch.hpp"
#include "support/frame_proxy.hpp"

#include <list>
#include <optional>

using namespace zklock;
using namespace zklock::test;

namespace {

constexpr std::chrono::milliseconds brief{4'000};

/// A process of its own, as its members see it: a client that ends without a word.
struct Process {
  Process(const testing::TestServer& server, const std::string& path, int first, int number)
      : client{make_client(server, brief)} {
    for (int i = first; i < first + number; ++i) members.emplace_back(client, path, "m" + std::to_string(i), "payload");
  }

  Client client;
  std::list<GroupMember> members{};
};

}  // namespace

TEST_CASE_METHOD(GroupFixture, "members that are killed go from every view within the session timeout and a tick",
                 "[timing]") {
  constexpr int each = 8;
  std::list<Process> processes;
  for (int i = 0; i < 8; ++i) processes.emplace_back(server, path, i * each, each);
  for (const Process& process : processes)
    for (const GroupMember& member : process.members) REQUIRE(member.group().wait_for(64, 30s));
  REQUIRE(group.wait_for(64, 10s));

  for (int left = 56; left >= 48; left -= each) {
    Process& victim = processes.back();
    victim.client.abort();
    const auto shows_all = [&] { return static_cast<int>(group.members().members.size()) == left; };
    // The last heartbeat may have come just before: T, a tick, and what this machine takes.
    REQUIRE(eventually(shows_all, brief + 500ms + 1s));
    processes.pop_back();
    for (const Process& process : processes)
      for (const GroupMember& member : process.members)
        REQUIRE(eventually([&] { return static_cast<int>(member.members().members.size()) == left; }));
  }
  for (Process& process : processes)
    for (const GroupMember& member : process.members) CHECK(member.own());
}

TEST_CASE_METHOD(GroupFixture, "a member whose session ends has left and joined again, in its own eyes and in others'",
                 "[faults]") {
  const GroupMember a{other, path, "a", "1"};
  REQUIRE(group.wait_for(1, 10s));
  GroupChangeStream changes = group.changes();
  const auto next = [&] {
    return text_of(
        std::get<1>(outcome_of_operation<GroupChange>([&](auto token) { changes.async_next(std::move(token)); })));
  };
  CHECK(next() == "joined a=1");
  for (int i = 0; i < 3; ++i) {
    const std::int64_t lost = end_session_of(server, other);
    CHECK(next() == "left a=1");
    CHECK(next() == "joined a=1");
    REQUIRE(eventually([&] { return a.own() && a.own()->session != lost; }));
  }
}

TEST_CASE_METHOD(NodeFixture, "a member that is cut off does not think itself a member, and a group it shows is stale",
                 "[faults]") {
  FrameProxy proxy{server.port()};
  Client away{{.connect_string = proxy.address(), .session_timeout = brief}};
  const GroupMember cut{away, path, "cut", "1"};
  const GroupMember kept{other, path, "kept", "2"};
  REQUIRE(cut.group().wait_for(2, 10s));
  REQUIRE(eventually([&] { return cut.own().has_value(); }));
  proxy.refuse();
  proxy.cut();
  REQUIRE(eventually([&] { return !cut.own(); }));
  CHECK(cut.state().phase != NodePhase::present);
  CHECK(eventually([&] { return cut.members().freshness.state == Freshness::State::stale; }));
  CHECK(cut.members().members.size() == 2);
  REQUIRE(eventually([&] { return kept.members().members.size() == 1; }));
  CHECK(eventually([&] { return cut.state().phase == NodePhase::absent; }));
  proxy.accept_again();
  CHECK(eventually([&] { return cut.own() && kept.members().members.size() == 2; }));
}

TEST_CASE_METHOD(NodeFixture, "after a lost link a group reads what has changed meanwhile, and is live then",
                 "[faults]") {
  FrameProxy proxy{server.port()};
  Client away{{.connect_string = proxy.address(), .session_timeout = session_timeout}};
  std::list<GroupMember> members;
  for (const char* id : {"a", "b", "c"}) members.emplace_back(other, path, id, "1");
  const Group group{away, path};
  REQUIRE(group.wait_for(3, 10s));
  proxy.refuse();
  proxy.cut();
  members.pop_front();
  members.front().set_data("2");
  members.emplace_back(other, path, "d", "1");
  members.back().wait_present();
  CHECK(shown(group) == "? a=1 b=1 c=1 ");
  const int reads = proxy.requests(Opcode::get_data);
  proxy.accept_again();
  CHECK(eventually([&] { return shown(group) == "b=2 c=1 d=1 "; }));
  CHECK(proxy.requests(Opcode::get_data) == reads + 2);
}
