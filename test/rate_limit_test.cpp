#include "rate_limit.hpp"

#include "support/catch.hpp"

using namespace zklock;
using namespace std::chrono_literals;

TEST_CASE("so many turns at once, then one each interval") {
  RateLimit limit{100ms, 3};
  const Clock::time_point start{1h};
  for (int i = 0; i < 3; ++i) CHECK(limit.take_turn(start) == start);
  CHECK(limit.take_turn(start) == start + 100ms);
  CHECK(limit.take_turn(start + 10ms) == start + 200ms);
}

TEST_CASE("what is not used is saved up to the burst, and no further") {
  RateLimit limit{100ms, 3};
  Clock::time_point now{1h};
  for (int i = 0; i < 3; ++i) static_cast<void>(limit.take_turn(now));
  now += 150ms;
  CHECK(limit.take_turn(now) == now);
  CHECK(limit.take_turn(now) == now + 50ms);
  now += 1h;
  for (int i = 0; i < 3; ++i) CHECK(limit.take_turn(now) == now);
  CHECK(limit.take_turn(now) == now + 100ms);
}

TEST_CASE("a thousand that come together are spread out, and none waits in vain") {
  RateLimit limit{10ms, 100};
  const Clock::time_point start{1h};
  Clock::time_point last = start;
  for (int i = 0; i < 1'000; ++i) {
    const auto turn = limit.take_turn(start);
    CHECK(turn >= last);
    last = turn;
  }
  CHECK(last == start + 9s);
}
