// A second ensemble beside a simulation's own.
#pragma once

#include <zklock/testing/simulation.hpp>

#include <chrono>
#include <utility>

namespace zklock::test {

/// It has no faults: an exploration strikes the simulation's own ensemble only. The scenario closes the clients.
class OtherEnsemble {
 public:
  explicit OtherEnsemble(testing::Simulation& simulation)
      : executor_{simulation.executor()}, ensemble_{executor_, {.latency = std::chrono::milliseconds{1}}} {}

  [[nodiscard]] const testing::FakeEnsemble& ensemble() const noexcept { return ensemble_; }
  /// Makes a client whose connect string names other servers than the simulation's clients have.
  [[nodiscard]] Client make_client(ClientConfig config) {
    config.connect_string = "127.0.0.2:2181";
    return ensemble_.make_client(executor_, std::move(config));
  }
  /// Neither a lock nor a watch is left.
  [[nodiscard]] bool is_clean() const {
    for (const testing::FakeNode& node : ensemble_.nodes())
      if (node.stat.ephemeral_owner > 0) return false;
    for (const testing::FakeWatch& watch : ensemble_.watches())
      if (!watch.path.starts_with("/zookeeper")) return false;
    return true;
  }

 private:
  asio::any_io_executor executor_;
  testing::FakeEnsemble ensemble_;
};

}  // namespace zklock::test
