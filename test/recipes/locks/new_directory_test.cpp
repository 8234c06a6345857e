// What a client learns when an operator deletes the directory of its locks, and it is made anew.
#include "repeated_lock.hpp"

using namespace zklock;
using namespace zklock::test;
using namespace zklock::testing;
using namespace std::chrono_literals;

TEST_CASE_METHOD(RepeatedLock, "a holder is told of its loss when a number that is not greater comes after its own") {
  const int number = GENERATE(0, 1);
  CAPTURE(number);
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = mutex("a");
    for (int i = 0; i < number; ++i) co_await cycle(*this, mine);
    const Lease held = co_await mine.async_acquire();
    CHECK_FALSE(is_watched());  // so no event tells it
    simulation.delete_as_operator(lock_directory);
    const Lease next = co_await mine.async_acquire();  // number 0, in the new directory
    CHECK(next.is_held());
    CHECK(held.state() == LeaseState::lost);
  });
}
