#include "double_barrier_steps.hpp"

#include "support/catch.hpp"

#include <zklock/recipe_kit/spawn.hpp>

#include <string>
#include <vector>

using namespace zklock;

namespace {

Stat node(std::int64_t czxid, std::int64_t mzxid, std::int32_t version = 0) {
  Stat stat;
  stat.czxid = czxid;
  stat.mzxid = mzxid;
  stat.version = version;
  return stat;
}

constexpr std::int64_t own = 10;

}  // namespace

TEST_CASE("a member is in by a ready that is younger than its node, and by no other") {
  CHECK(entry_step(node(11, 11), own, 1, 2) == EntryStep::in);
  CHECK(entry_step(node(5, 11, 1), own, 1, 2) == EntryStep::in);  // left over, and opened anew
  CHECK(entry_step(node(5, 5), own, 2, 2) == EntryStep::look);    // B4
  CHECK(entry_step(std::nullopt, own, 1, 2) == EntryStep::wait);
  CHECK(entry_step(std::nullopt, own, 2, 2) == EntryStep::open);
  CHECK(entry_step_at_left_over(1, 2) == EntryStep::wait);
  CHECK(entry_step_at_left_over(3, 2) == EntryStep::open);
}

TEST_CASE("a late member joins one that ready has counted, and that is not late itself") {
  const Stat ready = node(8, 8);
  CHECK(is_joinable(node(7, 7), ready));
  CHECK_FALSE(is_joinable(node(9, 9), ready));
  CHECK_FALSE(is_joinable(node(7, 12, 1), ready));
}

TEST_CASE("a member whose time is up was counted between its create and its withdrawal, or not at all") {
  const Stat withdrawn = node(own, 20, 1);
  CHECK_FALSE(round_before(withdrawn, std::nullopt));
  CHECK_FALSE(round_before(withdrawn, node(5, 5)));
  CHECK_FALSE(round_before(withdrawn, node(21, 21)));
  CHECK_FALSE(round_before(withdrawn, node(5, 21, 1)));
  CHECK(round_before(withdrawn, node(11, 11))->number == 11);
  CHECK(round_before(withdrawn, node(5, 12, 1))->number == 12);
  CHECK(round_before(withdrawn, node(11, 30, 1))->number == 11);  // the next round has opened meanwhile
}

TEST_CASE("leaving members wait for those of their own round") {
  const BarrierRound round{20};
  CHECK(is_of_round(node(own, own), round));
  CHECK(is_of_round(node(own, 30, 1), round));
  CHECK_FALSE(is_of_round(node(21, 21), round));  // B2, B3
  CHECK(is_of_round(node(21, 21), BarrierRound{BarrierRound::unknown}));
  CHECK(is_of_round(std::optional{node(20, 20)}, round));
  CHECK_FALSE(is_of_round(std::optional{node(20, 25, 1)}, round));
  CHECK_FALSE(is_of_round(std::optional{node(20, 20)}, BarrierRound{20, true}));
  CHECK_FALSE(is_of_round(std::optional<Stat>{}, round));
}

TEST_CASE("ready is no member") { CHECK(members_of({"b", "ready", "a"}) == std::vector<std::string>{"a", "b"}); }
