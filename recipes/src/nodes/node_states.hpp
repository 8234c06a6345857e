// A node's state, and its subscribers.
#pragma once

#include <zklock/recipe_kit/bounded_list.hpp>
#include <zklock/recipe_kit/event_queue.hpp>
#include <zklock/recipes/nodes/node_state.hpp>

#include <memory>
#include <mutex>

namespace zklock::detail {

/// Threads: any.
class NodeStates {
 public:
  [[nodiscard]] NodeState get() const;
  [[nodiscard]] NodeStateStream subscribe(const ClientHandle& client);
  /// Does nothing if it is the state already. NodePhase::ended is the last one.
  void publish(const NodeState& state);

 private:
  mutable std::mutex mutex_;
  NodeState state_;
  EventQueues<NodeState, BoundedList<NodeState, 16>> subscribers_;
};

}  // namespace zklock::detail
