// Time that passes only when a test says so.
#include "support/catch.hpp"

#include <zklock/error.hpp>
#include <zklock/recipe_kit/random.hpp>
#include <zklock/testing/manual_clock.hpp>
#include <zklock/timer.hpp>

#include <boost/asio/post.hpp>

#include <stdexcept>
#include <string>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

struct Fixture {
  ManualClock clock;
  asio::io_context context;
  std::string fired;

  Timer timer(char name, Clock::duration wait) {
    Timer timer{context.get_executor(), wait};
    timer.async_wait([this, name](error_code error) { fired += error ? '-' : name; });
    return timer;
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "under a manual clock time passes only when a test moves it, and timers follow it") {
  const auto begin = Clock::now();
  CHECK(Clock::now() == begin);
  const Timer later = timer('b', 2h);
  const Timer sooner = timer('a', 1h);
  clock.run_ready(context);
  CHECK(fired.empty());
  CHECK(clock.until_next(context) == Clock::duration{1h});
  clock.advance(1h - 1ns);
  clock.run_ready(context);
  CHECK(fired.empty());
  clock.advance(1ns);
  clock.run_ready(context);
  CHECK(fired == "a");
  CHECK(clock.until_next(context) == Clock::duration{1h});
  CHECK(Clock::now() == begin + 1h);
}

TEST_CASE_METHOD(Fixture, "a leap fires the timers together that run_for fires one after the other") {
  std::string seen;
  const auto note = [&](Timer& t) {
    t.async_wait([&](error_code) { seen += std::to_string((Clock::now().time_since_epoch() / 1s) % 100) + ' '; });
  };
  Timer first{context.get_executor(), 3s};
  Timer second{context.get_executor(), 5s};
  note(first);
  note(second);
  SECTION("a leap") {
    clock.advance(7s);
    clock.run_ready(context);
    CHECK(seen == "7 7 ");
  }
  SECTION("step by step") {
    const auto begin = Clock::now();
    clock.run_for(context, 7s);
    CHECK(seen == "3 5 ");
    CHECK(Clock::now() == begin + 7s);
  }
}

TEST_CASE_METHOD(Fixture, "until_next gives nothing without a timer, or with timers that never expire") {
  CHECK_FALSE(clock.until_next(context));
  const Timer gate{context.get_executor(), Clock::time_point::max()};
  Timer waiting{context.get_executor(), Clock::time_point::max()};
  waiting.async_wait([](error_code) {});
  CHECK_FALSE(clock.until_next(context));
  Timer soon{context.get_executor(), 1ms};
  soon.async_wait([](error_code) {});
  CHECK(clock.until_next(context) == Clock::duration{1ms});
}

TEST_CASE("there is one manual clock at a time, and the real one returns when it is gone") {
  const auto before = Clock::now();
  {
    const ManualClock clock;
    CHECK(Clock::now() == clock.now());
    CHECK_THROWS_AS(ManualClock{}, std::logic_error);
    const auto stopped = Clock::now();
    CHECK(Clock::now() == stopped);
  }
  CHECK(Clock::now() >= before);
  CHECK(Clock::now() < before + 1h);
}

TEST_CASE("random bits follow from the seed where there is one") {
  seed_random_bits(7);
  const auto first = random_bits();
  const auto second = random_bits();
  CHECK(first != second);
  seed_random_bits(7);
  CHECK(random_bits() == first);
  CHECK(random_bits() == second);
}
