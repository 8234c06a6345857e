// A client that keeps a lock between two uses, and the requests that it sends.
#pragma once

#include "repeated_lock.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace zklock::test {

struct KeptFixture : RepeatedLock {
  using RepeatedLock::RepeatedLock;

  InterProcessMutex kept(const std::string& client, Keeping keeping = Keeping::silent) {
    return {simulation.client(client, patient_config()),
            lock_directory,
            {.keep = std::chrono::seconds{2}, .keeping = keeping}};
  }
  /// Cycles until the lock is kept.
  asio::awaitable<void> warm_up(const InterProcessMutex& mutex) {
    for (int i = 0; i < 3; ++i) co_await cycle(*this, mutex);
    CHECK(nodes() == 1);
  }
  /// Begins an acquire, and lets it go on for a moment.
  asio::awaitable<void> begin(const InterProcessMutex& mutex, Lease& lease) {
    mutex.async_acquire(
        asio::bind_executor(simulation.executor(), [&lease](error_code, Lease got) { lease = std::move(got); }));
    co_await pause(std::chrono::milliseconds{10});
  }
  [[nodiscard]] bool watches_children() const {
    return std::ranges::any_of(simulation.ensemble().watches(), [](const testing::FakeWatch& each) {
      return each.kind == testing::FakeWatchKind::children && each.path == lock_directory;
    });
  }
};

}  // namespace zklock::test
