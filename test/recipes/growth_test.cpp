// Work on the I/O thread grows with the number of those that ask for it, and not with its square.
#include "support/growth.hpp"

#include "locks/kept_lock.hpp"
#include "support/follow_stage.hpp"

#include <zklock/recipes/caches/curator_cache.hpp>

using namespace zklock;
using namespace zklock::test;
using namespace std::chrono_literals;

TEST_CASE("waiters of a kept lock that time out together take a time that grows with their number", "[timing]") {
  CHECK(growth(1'000, [](std::size_t n) {
          KeptFixture fixture;
          std::size_t timed_out = 0;
          fixture.play([&]() -> asio::awaitable<void> {
            const InterProcessMutex mine = fixture.kept("a");
            co_await fixture.warm_up(mine);
            Lease held;
            co_await fixture.begin(mine, held);
            CHECK(held.is_held());
            for (std::size_t i = 0; i < n; ++i)
              mine.async_acquire(
                  1s, asio::bind_executor(fixture.simulation.executor(), [&timed_out](error_code error, Lease) {
                    if (error == Error::timed_out) ++timed_out;
                  }));
            co_await pause(2s);
            co_await fixture.release(held);
          });
          CHECK(timed_out == n);
        }) < 16);
}

TEST_CASE_METHOD(FollowStage, "refreshes that begin together share one sync, and wake each other once") {
  create("/app", "1");
  const CuratorCache cache{reader, "/app"};
  run();
  requests();
  int refreshed = 0;
  for (int i = 0; i < 1'000; ++i)
    cache.async_refresh(asio::bind_executor(simulation.executor(), [&refreshed](error_code error) {
      if (!error) ++refreshed;
    }));
  run();
  CHECK(refreshed == 1'000);
  CHECK(requests() == std::map<std::string, int>{{"sync", 1}});
}

TEST_CASE_METHOD(FollowStage, "streams of a cache take a time that grows with their number", "[timing]") {
  create("/app", "1");
  const CuratorCache cache{reader, "/app"};
  run();
  CHECK(growth(2'000, [&](std::size_t n) {
          std::vector<CacheEvents> streams;
          for (std::size_t i = 0; i < n; ++i) streams.push_back(cache.events());
        }) < 16);
}
