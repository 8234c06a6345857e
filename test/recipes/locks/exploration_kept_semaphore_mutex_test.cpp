// Semaphore mutexes that clients keep between two uses, under every fault at every step. The lock is kept from the third
// acquire of one client on, and granted by the kept node before another user comes.
#include "exploration_kept.hpp"

using namespace zklock;
using namespace zklock::test;
using namespace std::chrono_literals;

namespace {

/// All faults where grants are silent. One in three, another third with each seed, where they are confirmed: what is
/// written then is the same as for a mutex.
void check(const std::vector<KeptUser>& users, Faults faults = Faults::all) {
  const bool is_silent = users.front().settings.keeping == Keeping::silent;
  check_kept<InterProcessSemaphoreMutex>(users, 50, faults, {.stride = is_silent ? 1U : 3U});
}

}  // namespace

TEST_CASE("a semaphore mutex that is kept, and that another client asks for, is exclusive whatever fails") {
  const LockSettings settings = GENERATE(confirmed, silent);
  check({{.name = "a", .times = 6, .settings = settings}, {.name = "b", .times = 1, .comes_after = 42ms}});
}

TEST_CASE("two clients that keep a semaphore mutex in turn exclude each other whatever fails") {
  const LockSettings settings = GENERATE(confirmed, silent);
  check({{.name = "a", .times = 4, .settings = settings},
         {.name = "b", .times = 4, .settings = settings, .comes_after = 44ms}});
}

TEST_CASE("local waiters of a semaphore mutex without nodes exclude each other, and others, whatever fails") {
  const LockSettings settings = GENERATE(confirmed, with_handoffs);
  check({{.name = "a", .client = "one", .times = 5, .settings = settings},
         {.name = "b", .client = "one", .times = 2, .settings = settings, .comes_after = 33ms},
         {.name = "c", .client = "two", .times = 1, .comes_after = 42ms}});
}

TEST_CASE("a semaphore mutex that is kept is exclusive whatever an operator deletes") {
  const LockSettings settings = GENERATE(confirmed, silent);
  check({{.name = "a", .times = 6, .settings = settings}, {.name = "b", .times = 1, .comes_after = 42ms}},
        Faults::operator_deletes);
}
