// What the explorations of the locks have in common.
#pragma once

#include "catch.hpp"

#include <zklock/testing/exploration.hpp>
#include <zklock/timer.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace zklock::test {

inline asio::awaitable<void> pause(std::chrono::milliseconds wait) {
  if (wait.count() == 0) co_return;
  Timer timer{co_await asio::this_coro::executor, wait};
  co_await timer.async_wait(asio::as_tuple(asio::deferred));
}

/// A moment after its last operation has ended, a client watches nothing any more but these directories of wait queues:
/// while a lock object lives, the watch on its directory may prove the places of the client's next nodes. A moment that
/// the process oversleeps does not count: what is under way then is still under way afterwards.
inline bool idle_clients_watch_nothing(testing::Simulation& simulation, const std::vector<std::string>& but = {}) {
  constexpr Clock::duration a_moment = std::chrono::milliseconds{50};
  if (Clock::now() <= simulation.woke() + a_moment) return true;
  for (const testing::FakeWatch& watch : simulation.ensemble().watches())
    for (const std::string& name : simulation.client_names()) {
      if (watch.kind == WatchKind::data && std::ranges::find(but, watch.path) != but.end()) continue;
      if (watch.path.starts_with("/zookeeper") || simulation.client(name).session().id() != watch.session) continue;
      const auto& operations = simulation.operations();
      const bool idle =
          std::all_of(operations.begin(), operations.end(), [&](const testing::Simulation::Operation& each) {
            return each.client != name || (each.is_done() && each.completed + a_moment < Clock::now());
          });
      if (idle) return false;
    }
  return true;
}

/// In the environment, ZKLOCK_EXPLORE_SEED draws other pairs, and ZKLOCK_EXPLORE_PAIRS sets their number.
/// ZKLOCK_EXPLORE_STRIDE=n is for runs with little time: it takes one of n single faults that the test would, and one of
/// n pairs.
inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value ? std::strtoull(value, nullptr, 10) : otherwise;
}

inline void check_exploration(const testing::Scenario& scenario, std::size_t pairs,
                              testing::ExplorationOptions options = {}) {
  options.seed = from_environment("ZKLOCK_EXPLORE_SEED", 1);
  const std::size_t stride = from_environment("ZKLOCK_EXPLORE_STRIDE", 1);
  options.stride *= stride;
  options.pairs = from_environment("ZKLOCK_EXPLORE_PAIRS", pairs / stride);
  const testing::ExplorationReport report = testing::explore(scenario, options);
  INFO(report);
  CHECK(report);
  CHECK(report.steps > 3);
}

}  // namespace zklock::test
