// What the tests of a lease begin with, under a clock that they move.
#pragma once

#include "support/catch.hpp"
#include "support/exploration.hpp"

#include <zklock/recipes/locks/inter_process_mutex.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <utility>

namespace zklock::test {

inline constexpr std::chrono::milliseconds timeout{10'000};
inline const std::string directory = "/locks/orders";

inline ClientConfig config() {
  return {.session_timeout = timeout, .retry = ExponentialBackoffRetry{std::chrono::milliseconds{20}, 8}};
}

inline bool exists(testing::Simulation& simulation, const std::string& path) {
  return std::ranges::any_of(simulation.ensemble().nodes(),
                             [&](const testing::FakeNode& node) { return node.path == path; });
}

inline asio::awaitable<Lease> acquire(testing::Simulation& simulation, const std::string& who) {
  const InterProcessMutex mutex{simulation.client(who, config()), directory};
  auto [error, lease] = co_await mutex.async_acquire(asio::as_tuple(asio::deferred));
  if (error) simulation.fail(who + " does not get the lock: " + error.message());
  co_return std::move(lease);
}

/// Runs one actor, which checks on the way.
inline void play(std::function<asio::awaitable<void>(testing::Simulation&)> body) {
  testing::Simulation simulation;
  simulation.actor([&] { return body(simulation); });
  simulation.run();
  INFO((simulation.failures().empty() ? std::string{} : simulation.failures().front()));
  CHECK(simulation.failures().empty());
}

/// Waits for the loss, and keeps the outcome.
struct Watcher {
  int completions = 0;
  error_code outcome{};
  Clock::time_point heard{};

  void watch(testing::Simulation& simulation, Lease& lease) {
    lease.async_wait_lost(asio::bind_executor(simulation.executor(), [this](error_code error) {
      ++completions;
      outcome = error;
      heard = Clock::now();
    }));
  }
};

}  // namespace zklock::test
