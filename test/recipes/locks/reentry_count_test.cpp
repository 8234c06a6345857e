// How many times over a lock is held.
#include "reentry_count.hpp"

#include "support/catch.hpp"

using zklock::detail::ReentryCount;
using Entered = ReentryCount::Entered;

TEST_CASE("a lock that is held as often as it can be is not entered once more, and loses nothing by the attempt") {
  ReentryCount count{3};
  CHECK(count.enter() == Entered::yes);
  CHECK(count.enter() == Entered::yes);
  CHECK(count.enter() == Entered::too_often);
  CHECK(count.value() == 3);
  CHECK_FALSE(count.leave());
  CHECK(count.enter() == Entered::yes);
  CHECK_FALSE(count.leave());
  CHECK_FALSE(count.leave());
  CHECK(count.leave());
}

TEST_CASE("a lock that has been given back is not entered by what is left of it") {
  ReentryCount count;
  CHECK(count.leave());
  CHECK(count.enter() == Entered::ended);
  CHECK(count.value() == 0);
}
