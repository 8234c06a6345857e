// How many times over a lock is held.
#include "reentry_count.hpp"

#include "support/catch.hpp"

using zklock::detail::ReentryCount;
using Entered = ReentryCount::Entered;

TEST_CASE("a lock at its limit of re-entries refuses one more, and the refusal does not change the count") {
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

TEST_CASE("a released lock is not entered again by its old count") {
  ReentryCount count;
  CHECK(count.leave());
  CHECK(count.enter() == Entered::ended);
  CHECK(count.value() == 0);
}
