#include "zklock_work.hpp"

#include <zklock/timer.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/this_coro.hpp>

#include <stdexcept>

namespace zklock::bench {
namespace {

/// Returns early when the window is closing.
asio::awaitable<void> wait_until(Clock::time_point due, const Window& window) {
  while (!window.stopping() && Clock::now() < due) {
    Timer timer{co_await asio::this_coro::executor, std::chrono::milliseconds{5}};
    co_await timer.async_wait(asio::deferred);
  }
}

}  // namespace

asio::awaitable<void> loop(const InterProcessMutex& mutex, Release release, std::chrono::milliseconds interval,
                           Window& window, Tally& tally) {
  while (!window.stopping()) {
    const auto asked = Clock::now();
    Lease lease = co_await mutex.async_acquire();
    if (release == Release::awaited) co_await lease.async_release();
    lease = {};
    tally.add(asked);
    if (interval.count() > 0) co_await wait_until(asked + interval, window);
  }
}

asio::awaitable<void> enter_again(const InterProcessMutex& mutex, Window& window, Tally& tally) {
  const Owner owner = Owner::make();
  Lease lease = co_await mutex.async_acquire(owner);
  while (!window.stopping()) {
    for (int i = 0; i < 100; ++i) Lease again = co_await mutex.async_acquire(owner);
    tally.add_many(100);
  }
  co_await lease.async_release();
}

asio::awaitable<void> take_turns(const std::deque<InterProcessMutex>& of_clients, Release release, std::size_t turn,
                                 Window& window, Tally& all, Tally& others) {
  while (!window.stopping()) {
    for (const InterProcessMutex& mutex : of_clients) {
      const bool is_first = &mutex == &of_clients.front();
      for (std::size_t left = is_first ? turn : 1; left > 0 && !window.stopping(); --left) {
        const auto asked = Clock::now();
        Lease lease = co_await mutex.async_acquire();
        if (release == Release::awaited) co_await lease.async_release();
        lease = {};
        all.add(asked);
        if (!is_first) others.add(asked);
      }
    }
  }
}

asio::awaitable<void> keep_trying(const InterProcessMutex& mutex, Window& window, Tally& tally) {
  while (!window.stopping()) {
    const auto asked = Clock::now();
    const auto [error, lease] =
        co_await mutex.async_acquire(std::chrono::milliseconds{0}, asio::as_tuple(asio::deferred));
    if (error != Error::timed_out) throw std::runtime_error{"a try has not just failed: " + error.message()};
    tally.add(asked);
  }
}

}  // namespace zklock::bench
