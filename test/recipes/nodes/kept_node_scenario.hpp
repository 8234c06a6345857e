// A client that keeps a node, and what must be true of it whatever fails.
#pragma once

#include "support/catch.hpp"
#include "support/exploration.hpp"

#include <zklock/recipes/nodes/persistent_node.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zklock::test {

inline const ClientConfig patient{.session_timeout = std::chrono::seconds{10},
                                  .retry = ExponentialBackoffRetry{std::chrono::milliseconds{20}, 8}};

inline std::optional<testing::FakeNode> find_node(const testing::Simulation& simulation, const std::string& path) {
  const auto nodes = simulation.ensemble().nodes();
  const auto found = std::ranges::find(nodes, path, &testing::FakeNode::path);
  return found == nodes.end() ? std::nullopt : std::optional{*found};
}

inline std::vector<testing::FakeNode> nodes_in(const testing::Simulation& simulation, const std::string& parent) {
  auto nodes = simulation.ensemble().nodes();
  std::erase_if(nodes, [&](const testing::FakeNode& node) { return !node.path.starts_with(parent + "/"); });
  return nodes;
}

/// A node whose client says that it is present is there, with its last data if they were said to be written. That may
/// change while the news is under way: when the session ends, or an operator deletes the node.
class Kept {
 public:
  Kept(testing::Simulation& simulation, std::string client, std::string path, std::string data,
       PersistentNodeOptions options = {}, ClientConfig config = patient)
      : simulation_{simulation},
        name_{std::move(client)},
        client_{simulation.client(name_, std::move(config))},
        options_{options},
        node_{client_, std::move(path), std::move(data), std::move(options)} {}

  [[nodiscard]] const PersistentNode& node() const { return node_; }

  asio::awaitable<void> wait_present() {
    const Clock::time_point began = Clock::now();
    auto waiting = simulation_.operation<>(name_, {.name = "wait_present"}, [&](auto token) {
      node_.async_wait_present(std::chrono::seconds{60}, std::move(token));
    });
    const auto [error] = co_await std::move(waiting);
    if (error == Error::timed_out && simulation_.woke() < began)
      simulation_.fail(name_ + " is not present in a minute");
    if (!error) check_present("");
  }

  asio::awaitable<void> set(std::string data) {
    auto setting = simulation_.operation<>(name_, {.name = "set_data"},
                                           [&](auto token) { node_.async_set_data(data, std::move(token)); });
    const auto [error] = co_await std::move(setting);
    if (!error) check_present(data);
  }

  asio::awaitable<void> close() {
    auto closing =
        simulation_.operation<>(name_, {.name = "close"}, [&](auto token) { node_.async_close(std::move(token)); });
    const auto [error] = co_await std::move(closing);
    if (error || is_final(client_.session().state())) co_return;  // the session's end deletes it
    const auto left = find_node(simulation_, node_.node_path());
    if (left && simulation_.ensemble().is_alive(client_.session().id()) && owns(*left))
      simulation_.fail(name_ + " has closed its node, and it is there");
  }

  /// Whether the node is there as its client shows it.
  [[nodiscard]] bool is_honest() const {
    if (!node_.is_present() || has_excuse()) return true;
    const auto found = find_node(simulation_, node_.node_path());
    return found && owns(*found);
  }

 private:
  [[nodiscard]] bool owns(const testing::FakeNode& node) const {
    const std::int64_t owner = is_ephemeral(options_.mode) ? client_.session().id() : 0;
    return node.stat.ephemeral_owner == owner;
  }
  [[nodiscard]] bool has_excuse() const {
    const Session session = client_.session();
    return simulation_.has_operator_deleted() || !simulation_.ensemble().is_alive(session.id());
  }
  void check_present(const std::string& data) const {
    if (has_excuse()) return;
    const auto found = find_node(simulation_, node_.node_path());
    if (!found || !owns(*found)) return simulation_.fail(name_ + " is said to be present, and is not");
    if (!data.empty() && found->data != data) simulation_.fail(name_ + " is said to have data that it has not");
  }

  testing::Simulation& simulation_;
  std::string name_;
  Client& client_;
  PersistentNodeOptions options_;
  PersistentNode node_;
};

inline void play(testing::FakeEnsembleOptions ensemble,
                 const std::function<asio::awaitable<void>(testing::Simulation&)>& body) {
  testing::Simulation simulation{1, ensemble};
  simulation.actor([&] { return body(simulation); });
  simulation.run();
  INFO((simulation.failures().empty() ? std::string{} : simulation.failures().front()));
  CHECK(simulation.failures().empty());
}

inline asio::awaitable<void> until(std::function<bool()> condition) {
  const Clock::time_point latest = Clock::now() + std::chrono::seconds{60};
  while (!condition() && Clock::now() < latest) co_await pause(std::chrono::milliseconds{10});
  CHECK(condition());
}

}  // namespace zklock::test
