#include "kept_state.hpp"

#include "support/catch.hpp"

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
      {S::asked, E::released, false, S::free, A::remove}, {S::asked, E::released, true, S::free, A::remove},
      {S::asked, E::asked, false, S::asked, A::none},     {S::asked, E::asked, true, S::asked, A::none},
  };
  for (const Case& each : cases) {
    CAPTURE(static_cast<int>(each.state), static_cast<int>(each.event), each.has_waiters);
    CHECK(next_step(each.state, each.event, each.has_waiters) == KeptStep{each.next, each.action});
  }
}
