// The states that a subscriber has not read yet, and their publisher.
#pragma once

#include <zklock/client.hpp>
#include <zklock/recipe_kit/recipe_core.hpp>
#include <zklock/recipes/nodes/node_state.hpp>

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace zklock::detail {

/// Threads: any; it has a mutex, which is never held while a handler runs.
class NodeStateQueue : public RecipeCore, public std::enable_shared_from_this<NodeStateQueue> {
 public:
  NodeStateQueue(const RecipeCore& recipe, NodeState first);

  void push(const NodeState& state);
  void wait(Handler<NodeState> handler);
  void cancel();

 private:
  /// Calls the handler later, on the serial executor.
  void deliver(Handler<NodeState> handler, error_code error, const NodeState& state) const;

  std::mutex mutex_;
  std::deque<NodeState> states_;
  bool ended_ = false;
  std::optional<Handler<NodeState>> waiter_;
};

/// A node's state and its subscribers.
///
/// Threads: publish on the serial executor, the rest on any.
class NodeStatePublisher {
 public:
  [[nodiscard]] NodeState get() const;
  [[nodiscard]] std::shared_ptr<NodeStateQueue> subscribe(const RecipeCore& recipe);
  /// Does nothing if it is the state already.
  void publish(const NodeState& state);

 private:
  mutable std::mutex mutex_;
  NodeState state_;
  std::vector<std::weak_ptr<NodeStateQueue>> subscribers_;
};

}  // namespace zklock::detail
