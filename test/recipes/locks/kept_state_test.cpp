#include "kept_state.hpp"

#include "kept_lock_node.hpp"
#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace zklock::detail;

TEST_CASE("what becomes of a lock that is kept, at each event") {
  using S = KeptState;
  using E = KeptEvent;
  using A = KeptAction;
  struct Case {
    S state;
    E event;
    bool has_waiters;
    S next;
    A action;
  };
  const std::vector<Case> cases{
      {S::free, E::armed, false, S::held, A::none},       {S::free, E::armed, true, S::held, A::none},
      {S::free, E::wanted, false, S::free, A::enqueue},   {S::free, E::wanted, true, S::free, A::enqueue},
      {S::free, E::released, false, S::free, A::none},    {S::free, E::released, true, S::free, A::none},
      {S::free, E::asked, false, S::free, A::none},       {S::free, E::asked, true, S::free, A::none},

      {S::held, E::armed, false, S::held, A::none},       {S::held, E::armed, true, S::held, A::none},
      {S::held, E::wanted, false, S::held, A::wait},      {S::held, E::wanted, true, S::held, A::wait},
      {S::held, E::released, false, S::kept, A::none},    {S::held, E::released, true, S::held, A::hand_off},
      {S::held, E::asked, false, S::asked, A::flush},     {S::held, E::asked, true, S::asked, A::flush},

      {S::kept, E::armed, false, S::kept, A::none},       {S::kept, E::armed, true, S::kept, A::none},
      {S::kept, E::wanted, false, S::held, A::grant},     {S::kept, E::wanted, true, S::held, A::grant},
      {S::kept, E::released, false, S::kept, A::none},    {S::kept, E::released, true, S::kept, A::none},
      {S::kept, E::asked, false, S::free, A::remove},     {S::kept, E::asked, true, S::free, A::remove},

      {S::asked, E::armed, false, S::asked, A::none},     {S::asked, E::armed, true, S::asked, A::none},
      {S::asked, E::wanted, false, S::asked, A::enqueue}, {S::asked, E::wanted, true, S::asked, A::enqueue},
      {S::asked, E::released, false, S::free, A::remove}, {S::asked, E::released, true, S::asked, A::hand_off},
      {S::asked, E::asked, false, S::asked, A::flush},    {S::asked, E::asked, true, S::asked, A::flush},
  };
  for (const Case& each : cases) {
    CAPTURE(static_cast<int>(each.state), static_cast<int>(each.event), each.has_waiters);
    CHECK(next_step(each.state, each.event, each.has_waiters) == KeptStep{each.next, each.action});
  }
}

TEST_CASE("a node may be kept only if it is the only one in the queue") {
  using zklock::LockKind;
  using zklock::LockNaming;
  const std::string own = "_c_1-lock-0000000007";
  const auto alone = [&](const std::vector<std::string>& children) {
    return is_only_one(children, own, LockKind::mutex, LockNaming::curator);
  };
  CHECK(alone({own}));
  CHECK(alone({own, "config"}));
  CHECK_FALSE(alone({}));
  CHECK_FALSE(alone({own, "_c_2-lock-0000000008"}));
  CHECK_FALSE(alone({"_c_2-lock-0000000006", own}));
  CHECK_FALSE(alone({"_c_2-lock-0000000006"}));
  CHECK_FALSE(is_only_one({"_c_1-__WRIT__0000000007", "_c_2-__READ__0000000008"}, "_c_1-__WRIT__0000000007",
                          LockKind::write, LockNaming::curator));
}
