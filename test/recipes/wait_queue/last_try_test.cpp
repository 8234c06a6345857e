#include "last_try.hpp"

#include "support/catch.hpp"

using namespace zklock;

TEST_CASE("after a failed try the next one fails by a list if a node is ahead") {
  LastTry tries;
  CHECK_FALSE(tries.has_failed());
  tries.failed_behind("a");
  CHECK(tries.has_failed());
  CHECK(tries.fails_behind("a"));
  CHECK(tries.fails_behind("b"));
  CHECK_FALSE(tries.fails_behind(""));
  tries.succeeded();
  CHECK_FALSE(tries.has_failed());
}

TEST_CASE("where unused locks may be kept, a try that finds the same node as the last one enqueues") {
  LastTry tries{UnusedLocks::may_be_kept};
  tries.failed_behind("a");
  CHECK_FALSE(tries.fails_behind("a"));
  CHECK(tries.fails_behind("b"));
  tries.failed_behind("b");
  CHECK_FALSE(tries.fails_behind("b"));
  CHECK_FALSE(tries.fails_behind(""));
}
