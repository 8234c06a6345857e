// A client that takes a lock again and again, and the requests that it sends.
#pragma once

#include "support/catch.hpp"
#include "support/exploration.hpp"

#include <zklock/recipes/locks/inter_process_mutex.hpp>
#include <zklock/testing/simulation.hpp>

#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace zklock::test {

inline const std::string lock_directory = "/locks/orders";
inline constexpr auto as_tuple = asio::as_tuple(asio::deferred);

inline ClientConfig patient_config() {
  return {.session_timeout = std::chrono::seconds{10},
          .retry = ExponentialBackoffRetry{std::chrono::milliseconds{20}, 8}};
}

/// The requests of a client, without those that a session sends by itself.
struct RepeatedLock {
  testing::Simulation simulation;
  std::string queue = lock_directory;  // the directory of the nodes
  std::string requests{};
  std::function<testing::FakeFault(const testing::FakeCall&)> fault{};

  explicit RepeatedLock(testing::FakeEnsembleOptions options = {}) : simulation{1, options} {
    simulation.ensemble().on_call([this](const testing::FakeCall& call) {
      if (!call.applied && call.operation != "sync" && call.operation != "connect" && call.operation != "close")
        requests += (requests.empty() ? "" : " ") + std::string{call.operation};
      return fault ? fault(call) : testing::FakeFault::none;
    });
  }
  std::string sent() { return std::exchange(requests, {}); }
  InterProcessMutex mutex(const std::string& client) {
    return {simulation.client(client, patient_config()), lock_directory};
  }
  void play(std::function<asio::awaitable<void>()> body) {
    simulation.actor(std::move(body));
    simulation.run();
    INFO((simulation.failures().empty() ? std::string{} : simulation.failures().front()));
    CHECK(simulation.failures().empty());
  }
  /// A client watches the directory.
  [[nodiscard]] bool is_watched() const {
    return std::ranges::any_of(simulation.ensemble().watches(),
                               [this](const testing::FakeWatch& each) { return each.path == queue; });
  }
  /// Another client makes nodes that are no lock's until the directory's next number is `next`.
  asio::awaitable<void> count_to(const std::string& client, int next) {
    const Session session = simulation.client(client, patient_config()).session();
    for (std::string digits = "000000000" + std::to_string(next - 1);;) {
      const auto [error, made] =
          co_await session.async_create(lock_directory + "/other-", "", CreateMode::persistent_sequential, as_tuple);
      if (error) simulation.fail("no other node is made: " + error.message());
      if (error || made.path.ends_with(digits)) co_return;
    }
  }
  [[nodiscard]] std::size_t nodes() const { return children().size(); }
  [[nodiscard]] std::vector<std::string> children() const {
    std::vector<std::string> paths;
    for (const testing::FakeNode& node : simulation.ensemble().nodes())
      if (node.path.starts_with(queue + "/")) paths.push_back(node.path);
    return paths;
  }
};

template <class Mutex>
asio::awaitable<std::string> cycle(RepeatedLock& fixture, const Mutex& mutex) {
  auto [error, lease] = co_await mutex.async_acquire(as_tuple);
  CHECK_FALSE(error);
  const auto [failed] = co_await lease.async_release(as_tuple);
  CHECK_FALSE(failed);
  co_return fixture.sent();
}

template <class Mutex>
asio::awaitable<error_code> try_once(const Mutex& mutex) {
  auto [error, lease] = co_await mutex.async_acquire(std::chrono::seconds{0}, as_tuple);
  co_return error;
}

}  // namespace zklock::test
