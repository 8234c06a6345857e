// Locks that clients keep between two uses, under every fault at every step.
#include "exploration_kept.hpp"

using namespace zklock;
using namespace zklock::test;
using namespace std::chrono_literals;

TEST_CASE("a lock that is kept, and that another client asks for, is exclusive whatever fails") {
  const LockSettings settings = GENERATE(confirmed, silent);
  check_kept<InterProcessMutex>({{.name = "a", .times = 7, .settings = settings},
                                 {.name = "b", .times = 2, .comes_after = 37ms, .rests_for = 10ms}},
                                150);
}

TEST_CASE("two clients that keep a lock in turn exclude each other whatever fails") {
  const LockSettings settings = GENERATE(confirmed, silent);
  check_kept<InterProcessMutex>(
      {{.name = "a", .times = 7, .settings = settings, .works_for = 2ms, .rests_for = 3ms},
       {.name = "b", .times = 7, .settings = settings, .comes_after = 45ms, .works_for = 2ms, .rests_for = 3ms}},
      150);
}

TEST_CASE("a lock that is kept is exclusive whatever an operator deletes") {
  const LockSettings settings = GENERATE(confirmed, silent);
  check_kept<InterProcessMutex>({{.name = "a", .times = 7, .settings = settings},
                                 {.name = "b", .times = 2, .comes_after = 37ms, .rests_for = 10ms}},
                                150, Faults::operator_deletes);
}

TEST_CASE("local waiters without nodes exclude each other, and others, whatever fails") {
  const LockSettings settings = GENERATE(confirmed, silent, with_handoffs);
  check_kept<InterProcessMutex>(
      {{.name = "a", .client = "one", .times = 6, .settings = settings},
       {.name = "b", .client = "one", .times = 5, .settings = settings, .comes_after = 3ms},
       {.name = "c", .client = "one", .times = 4, .settings = settings, .comes_after = 20ms, .rests_for = 15ms},
       {.name = "d", .client = "two", .times = 2, .comes_after = 60ms, .rests_for = 10ms}},
      150);
}

TEST_CASE("local waiters without nodes exclude each other, and others, whatever an operator deletes") {
  const LockSettings settings = GENERATE(silent, with_handoffs);
  check_kept<InterProcessMutex>({{.name = "a", .client = "one", .times = 6, .settings = settings},
                                 {.name = "b", .client = "one", .times = 5, .settings = settings, .comes_after = 3ms},
                                 {.name = "c", .client = "two", .times = 3, .comes_after = 50ms}},
                                200, Faults::operator_deletes);
}

TEST_CASE("a lock that is kept until its time is up is exclusive whatever fails") {
  const LockSettings settings = GENERATE(confirmed, silent);
  check_kept<InterProcessMutex>({{.name = "a", .times = 6, .settings = settings, .works_for = 3ms, .rests_for = 29ms},
                                 {.name = "b", .times = 2, .comes_after = 130ms, .rests_for = 10ms}},
                                120);
}

TEST_CASE("tries beside a kept lock leave no trace, and exclude others, whatever fails") {
  check_kept<InterProcessMutex>(
      {{.name = "a", .times = 8, .settings = silent, .works_for = 2ms, .rests_for = 5ms},
       {.name = "b",
        .client = "a",
        .times = 4,
        .settings = silent,
        .comes_after = 3ms,
        .rests_for = 6ms,
        .does = KeptUser::Does::tries},
       {.name = "c", .times = 5, .comes_after = 30ms, .rests_for = 6ms, .does = KeptUser::Does::tries}},
      150);
}

TEST_CASE("a write lock that is kept excludes others whatever fails") {
  check_kept<InterProcessReadWriteLock>(
      {{.name = "a", .times = 7, .settings = silent, .does = KeptUser::Does::writes},
       {.name = "b", .times = 2, .comes_after = 37ms, .rests_for = 10ms, .does = KeptUser::Does::writes}},
      120);
}
