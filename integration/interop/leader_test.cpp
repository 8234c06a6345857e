// Leaders of zklock, Curator and Kazoo on the same paths.
#include "peer.hpp"
#include "support/catch.hpp"
#include "support/leader_fixture.hpp"

#include <zklock/recipes/leader/leader_latch.hpp>
#include <zklock/recipes/leader/leader_selector.hpp>

#include <string>

using namespace zklock;
using namespace zklock::test;

namespace {

struct WithServer {
  testing::TestServer server;
  Client client = make_client(server);
  Session session = connected_session(client);
  const std::string path = "/leader/orders";

  [[nodiscard]] bool is_enqueued(std::size_t number) const {
    return eventually([&] { return children_of(session, path).size() == number; });
  }
};

struct BesideCurator : WithServer {
  Curator curator{server};

  [[nodiscard]] bool curator_leads() {
    return eventually([&] { return curator("leads " + path) == "yes"; });
  }
  [[nodiscard]] bool curator_is_selected() {
    return eventually([&] { return curator("selected " + path) == "yes"; });
  }
};

struct BesideKazoo : WithServer {
  Kazoo kazoo{server};
};

/// The id of the leader that the stream tells next.
std::string next_leader(LeaderStream& leaders) {
  Pending<std::optional<Leader>> next;
  leaders.async_next(next.handler());
  const auto leader = std::get<1>(next.get());
  return leader ? leader->id : "nobody";
}

}  // namespace

TEST_CASE_METHOD(BesideCurator, "Curator's LeaderLatch and zklock's are one election, and know each other's ids") {
  const LeaderLatch latch{client, path, "zklock"};
  LeaderStream leaders = latch.leaders();
  CHECK(next_leader(leaders) == "nobody");
  REQUIRE(curator("latch " + path + " curator") == "yes");
  REQUIRE(curator_leads());
  CHECK(next_leader(leaders) == "curator");
  CHECK(try_lead(latch) == Error::timed_out);
  Pending<Leadership> second;
  latch.async_lead(second.handler());
  REQUIRE(is_enqueued(2));
  CHECK_FALSE(second.ready(200ms));
  CHECK(curator("latched " + path) == "curator curator zklock");
  const auto listed = latch.participants();
  REQUIRE(listed.size() == 2);
  CHECK(listed[0].id == "curator");
  CHECK(listed[1].id == "zklock");
  CHECK(curator("unlatch " + path) == "yes");
  Leadership leader = std::get<1>(second.get());
  CHECK(leader.is_held());
  CHECK(next_leader(leaders) == "zklock");
  REQUIRE(curator("latch " + path + " curator") == "yes");
  REQUIRE(is_enqueued(2));
  CHECK_FALSE(eventually([&] { return curator("leads " + path) == "yes"; }, 200ms));
  CHECK(curator("latched " + path) == "zklock zklock curator");
  CHECK_FALSE(resign(leader));
  CHECK(curator_leads());
  CHECK(next_leader(leaders) == "curator");
}

TEST_CASE_METHOD(BesideCurator, "zklock's latches with priorities and Curator's are one election") {
  const LeaderLatch low{client, path, "low", {.priority = 1}};
  const LeaderLatch high{client, path, "high", {.priority = 9}};
  REQUIRE(curator("latch " + path + " curator") == "yes");
  REQUIRE(curator_leads());
  Pending<Leadership> first;
  Pending<Leadership> second;
  low.async_lead(first.handler());
  REQUIRE(is_enqueued(2));
  high.async_lead(second.handler());
  REQUIRE(is_enqueued(3));
  CHECK(curator("latched " + path) == "curator curator low high");
  CHECK(curator("unlatch " + path) == "yes");
  Leadership leader = std::get<1>(second.get());
  CHECK(leader.is_held());
  CHECK_FALSE(first.ready());
  REQUIRE(curator("latch " + path + " curator") == "yes");
  REQUIRE(is_enqueued(3));
  CHECK_FALSE(resign(leader));
  Leadership last = std::get<1>(first.get());
  CHECK(last.is_held());
  CHECK_FALSE(resign(last));
  CHECK(curator_leads());
}

TEST_CASE_METHOD(BesideCurator, "a leader that steps back for Curator's candidate leads again after it") {
  const LeaderLatch latch{client, path, "zklock"};
  Leadership leader = lead(latch);
  REQUIRE(curator("latch " + path + " curator") == "yes");
  REQUIRE(is_enqueued(2));
  Pending<Leadership> again;
  leader.async_step_back(again.handler());
  CHECK(curator_leads());
  CHECK_FALSE(again.ready(100ms));
  CHECK(curator("unlatch " + path) == "yes");
  CHECK(std::get<1>(again.get()).is_held());
}

TEST_CASE_METHOD(BesideCurator, "a write to a latch's node makes Curator's candidate behind it deaf") {
  const LeaderLatch latch{client, path, "zklock"};
  Leadership leader = lead(latch);
  REQUIRE(curator("latch " + path + " curator") == "yes");
  // Besides, Curator watches the servers' configuration.
  REQUIRE(eventually([&] { return server.monitor("zk_watch_count") == 2; }));
  const auto [error, stat] = outcome_of_operation<Stat>(
      [&](auto token) { session.async_set_data(leader.node_path(), "written", std::move(token)); });
  REQUIRE_FALSE(error);
  CHECK(eventually([&] { return server.monitor("zk_watch_count") == 1; }));
  CHECK_FALSE(resign(leader));
  CHECK_FALSE(eventually([&] { return curator("leads " + path) == "yes"; }, 1s));  // it is the first one, and sleeps
  CHECK(children_of(session, path).size() == 1);
}

TEST_CASE_METHOD(BesideCurator, "Curator's LeaderSelector, its mutex and zklock's selector are one election") {
  const LeaderSelector selector{client, path, "zklock"};
  REQUIRE(curator("select " + path + " curator") == "yes");
  REQUIRE(curator_is_selected());
  CHECK(try_lead(selector) == Error::timed_out);
  Pending<Leadership> second;
  selector.async_lead(second.handler());
  REQUIRE(is_enqueued(2));
  CHECK(curator("selectable " + path) == "curator curator zklock");
  CHECK(curator("unselect " + path) == "yes");
  Leadership leader = std::get<1>(second.get());
  CHECK(leader.is_held());
  CHECK(curator("acquire mutex " + path + " 200") == "no");
  REQUIRE(curator("select " + path + " curator") == "yes");
  REQUIRE(is_enqueued(2));
  CHECK_FALSE(eventually([&] { return curator("selected " + path) == "yes"; }, 200ms));
  CHECK(curator("selectable " + path) == "zklock zklock curator");
  CHECK_FALSE(resign(leader));
  CHECK(curator_is_selected());
}

TEST_CASE_METHOD(BesideCurator, "when a process of Curator's that leads is killed, zklock leads by the session's end",
                 "[faults]") {
  Curator brief{server, 2s};
  const LeaderLatch latch{client, path, "zklock"};
  REQUIRE(brief("latch " + path + " curator") == "yes");
  REQUIRE(eventually([&] { return brief("leads " + path) == "yes"; }));
  Pending<Leadership> next;
  latch.async_lead(next.handler());
  REQUIRE(is_enqueued(2));
  brief.kill();
  CHECK(std::get<1>(next.get()).is_held());
}

TEST_CASE_METHOD(BesideKazoo, "Kazoo's Election and zklock's selector under Kazoo's names are one election") {
  const LeaderSelector selector{client, path, "zklock", LockNaming::kazoo};
  Leadership leader = lead(selector);
  REQUIRE(kazoo("stand " + path + " kazoo") == "yes");
  REQUIRE(is_enqueued(2));
  CHECK(kazoo("leads " + path) == "no");
  CHECK(kazoo("candidates " + path) == "zklock kazoo");
  CHECK_FALSE(resign(leader));
  REQUIRE(eventually([&] { return kazoo("leads " + path) == "yes"; }));
  CHECK(try_lead(selector) == Error::timed_out);
  Pending<Leadership> second;
  selector.async_lead(second.handler());
  REQUIRE(is_enqueued(2));
  CHECK_FALSE(second.ready(200ms));
  const auto listed = selector.participants();
  REQUIRE(listed.size() == 2);
  CHECK(listed[0].id == "kazoo");
  CHECK(kazoo("resign " + path) == "yes");
  CHECK(std::get<1>(second.get()).is_held());
}
