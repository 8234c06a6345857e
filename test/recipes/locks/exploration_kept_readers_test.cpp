// Read locks that clients keep between two uses, under every fault at every step.
#include "exploration_kept.hpp"

using namespace zklock;
using namespace zklock::test;
using namespace std::chrono_literals;

namespace {

constexpr auto writes = KeptUser::Does::writes;

}  // namespace

TEST_CASE("a read lock that is kept excludes another client's writer whatever fails") {
  check_kept<InterProcessReadWriteLock, ReadWriteWatch>(
      {{.name = "a", .settings = silent},
       {.name = "b", .times = 2, .comes_after = 37ms, .rests_for = 10ms, .does = writes}},
      150);
}

TEST_CASE("read locks that two clients keep exclude a writer whatever fails") {
  check_kept<InterProcessReadWriteLock, ReadWriteWatch>(
      {{.name = "a", .settings = silent, .works_for = 3ms, .rests_for = 2ms},
       {.name = "b", .settings = silent, .comes_after = 4ms, .works_for = 3ms},
       {.name = "c", .times = 2, .comes_after = 41ms, .rests_for = 10ms, .does = writes}},
      150);
}

TEST_CASE("readers of one client by one node exclude its own writer, and another client's, whatever fails") {
  check_kept<InterProcessReadWriteLock, ReadWriteWatch>(
      {{.name = "a", .client = "one", .settings = silent},
       {.name = "b", .client = "one", .settings = silent, .comes_after = 13ms, .works_for = 7ms},
       {.name = "c", .client = "one", .times = 2, .settings = silent, .comes_after = 33ms, .does = writes},
       {.name = "d", .client = "two", .times = 1, .comes_after = 60ms, .does = writes}},
      150);
}

TEST_CASE("a read lock that is kept excludes writers whatever an operator deletes") {
  check_kept<InterProcessReadWriteLock, ReadWriteWatch>(
      {{.name = "a", .client = "one", .settings = silent},
       {.name = "b", .client = "one", .times = 4, .settings = silent, .comes_after = 13ms},
       {.name = "c", .times = 2, .comes_after = 37ms, .rests_for = 10ms, .does = writes}},
      150, Faults::operator_deletes);
}

TEST_CASE("a read lock that is kept until its time is up excludes writers whatever fails") {
  check_kept<InterProcessReadWriteLock, ReadWriteWatch>(
      {{.name = "a", .settings = silent, .works_for = 3ms, .rests_for = 29ms},
       {.name = "b", .times = 2, .comes_after = 130ms, .rests_for = 10ms, .does = writes}},
      120);
}

TEST_CASE("tries to read beside a kept read lock leave no trace, and exclude writers, whatever fails") {
  check_kept<InterProcessReadWriteLock, ReadWriteWatch>(
      {{.name = "a", .times = 7, .settings = silent, .works_for = 2ms, .rests_for = 4ms},
       {.name = "b",
        .client = "a",
        .times = 5,
        .settings = silent,
        .comes_after = 3ms,
        .rests_for = 6ms,
        .does = KeptUser::Does::tries},
       {.name = "c", .times = 2, .comes_after = 30ms, .rests_for = 6ms, .does = writes}},
      120);
}
