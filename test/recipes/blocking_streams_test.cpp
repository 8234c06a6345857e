// The blocking forms of what streams and leaders offer, with threads on a fake ensemble.
#include "support/catch.hpp"

#include <zklock/recipes/leader/leader_latch.hpp>
#include <zklock/recipes/nodes/group_member.hpp>
#include <zklock/testing/fake_ensemble.hpp>

#include <future>
#include <string>

using namespace zklock;
using namespace std::chrono_literals;

namespace {

struct Fixture {
  testing::FakeEnsemble ensemble;
  Client client = ensemble.make_client();
  Client other = ensemble.make_client();
  std::string path = "/leader";
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a thread reads the states of a node, and the changes of its group") {
  std::optional<GroupMember> member{std::in_place, client, "/group", "a", "1"};
  NodeStateStream states = member->states();
  NodeState state = states.next();
  while (state.phase != NodePhase::present) state = states.next();
  CHECK(state.czxid != 0);
  CHECK_FALSE(states.next(10ms));
  GroupChangeStream changes = member->group().changes();
  CHECK(changes.next().id == "a");
  member->set_data("2");
  const auto changed = changes.next(10s);
  REQUIRE(changed);
  CHECK(changed->kind == GroupChangeKind::changed);
  CHECK(changed->member.payload == "2");
  member.reset();
  while (state.phase != NodePhase::ended) state = states.next();
  CHECK_THROWS_AS(states.next(), boost::system::system_error);
}

TEST_CASE_METHOD(Fixture, "a thread reads which candidate leads, and what becomes of its candidacy") {
  const LeaderLatch latch{client, path, "a"};
  LeaderStream leaders = latch.leaders();
  const std::optional<std::optional<Leader>> nobody = leaders.next(10s);
  REQUIRE(nobody);
  CHECK_FALSE(*nobody);
  CHECK_FALSE(leaders.next(10ms));
  CandidacyStream candidacy = latch.stand();
  CHECK(candidacy.next().state == CandidacyState::waiting);
  CHECK(candidacy.next().state == CandidacyState::leading);
  const std::optional<Leader> leader = leaders.next();
  REQUIRE(leader);
  CHECK(leader->id == "a");
  CHECK(leader->fencing_token == candidacy.fencing_token());
}

TEST_CASE_METHOD(Fixture, "a thread that leads resigns in time or learns that it takes longer, and steps back") {
  const LeaderLatch mine{client, path, "a"};
  const LeaderLatch theirs{other, path, "b"};
  Leadership leadership = mine.lead();
  CHECK(leadership.resign(10s));
  CHECK(leadership.state() == LeaseState::released);
  CHECK_THROWS_AS(leadership.resign(1s), boost::system::system_error);  // not_owner

  leadership = mine.lead();
  auto second = std::async(std::launch::async, [&] { return theirs.lead(); });
  while (mine.participants().size() < 2) continue;
  auto again = std::async(std::launch::async, [&] { return leadership.step_back(); });
  Leadership led = second.get();
  CHECK(led.is_held());
  CHECK(again.wait_for(10ms) == std::future_status::timeout);
  led.resign();
  leadership = again.get();
  CHECK(leadership.is_held());
  CHECK(leadership.fencing_token() > led.fencing_token());

  ensemble.hold_all_replies();
  CHECK_FALSE(leadership.resign(50ms));
  ensemble.release_replies();
  CHECK(theirs.lead(10s));
}
