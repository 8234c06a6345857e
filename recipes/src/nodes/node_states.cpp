#include "node_states.hpp"

namespace zklock {

std::string_view to_string(NodePhase phase) noexcept {
  switch (phase) {
    case NodePhase::absent: return "absent";
    case NodePhase::present: return "present";
    case NodePhase::suspect: return "suspect";
    case NodePhase::taken: return "taken";
    case NodePhase::failing: return "failing";
    case NodePhase::ended: return "ended";
  }
  return "unknown";
}

namespace detail {

NodeState NodeStates::get() const {
  const std::lock_guard lock{mutex_};
  return state_;
}

NodeStateStream NodeStates::subscribe(const ClientHandle& client) {
  const std::lock_guard lock{mutex_};
  auto queue = subscribers_.add(client);
  queue->push(state_);
  if (state_.phase == NodePhase::ended) queue->end(make_error_code(Error::closing));
  return NodeStateStream{std::move(queue)};
}

void NodeStates::publish(const NodeState& state) {
  const std::lock_guard lock{mutex_};
  if (state_ == state || state_.phase == NodePhase::ended) return;
  state_ = state;
  subscribers_.push(state);
  if (state.phase == NodePhase::ended) subscribers_.end(make_error_code(Error::closing));
}

}  // namespace detail
}  // namespace zklock
