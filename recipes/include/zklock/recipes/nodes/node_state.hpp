// The state of a node that is kept, and a stream of its changes.
#pragma once

#include <zklock/detail/initiate.hpp>

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace zklock {

enum class NodePhase {
  absent,   ///< not there: not created yet, or deleted; it is being created
  present,  ///< there, and watched; an ephemeral node is the current session's
  suspect,  ///< the link is lost: the servers may have ended the session, and the node with it
  taken,    ///< another client has a node at the path
  failing,  ///< the servers refuse what is needed; it is tried again, more and more slowly
  ended     ///< nothing is kept any more: closed, or given up
};

[[nodiscard]] std::string_view to_string(NodePhase phase) noexcept;

struct NodeState {
  NodePhase phase = NodePhase::absent;
  std::int64_t czxid = 0;  ///< present, suspect: which node it is; each new one has a greater number
  std::int64_t owner = 0;  ///< taken: the session that owns the other node; 0: a node that no session owns
  error_code error{};      ///< failing; ended: why it gave up, success if it was closed

  friend bool operator==(const NodeState&, const NodeState&) = default;
};

namespace detail {
class NodeStateQueue;
asio::any_io_executor serial_executor(const NodeStateQueue& queue);
asio::any_io_executor callback_executor(const NodeStateQueue& queue);
void refuse_after_fork(const NodeStateQueue& queue);
void abandon(const std::shared_ptr<NodeStateQueue>& queue) noexcept;
void start_next_node_state(std::shared_ptr<NodeStateQueue> queue, Handler<NodeState> handler);
}  // namespace detail

/// A stream of a node's states, in their order, read at the subscriber's own pace. The first one is the state at the
/// time of the subscription. A subscriber that is 16 states behind misses the oldest of them, never the last. The
/// stream ends (Error::closing) after NodePhase::ended.
///
/// Threads: one at a time; any thread.
class NodeStateStream {
 public:
  explicit NodeStateStream(std::shared_ptr<detail::NodeStateQueue> queue) noexcept : queue_{std::move(queue)} {}
  NodeStateStream(NodeStateStream&&) noexcept = default;
  NodeStateStream& operator=(NodeStateStream&& other) noexcept {
    if (this != &other) {
      detail::abandon(queue_);
      queue_ = std::move(other.queue_);
    }
    return *this;
  }
  /// A wait under way completes with operation_aborted.
  ~NodeStateStream() { detail::abandon(queue_); }

  /// Waits for the next state. Only one wait at a time: a second one fails with Error::invalid_state.
  ///
  /// Signature     void(error_code, NodeState)
  /// Completes     with the oldest unread state; at once if there is one.
  /// Errors        Error::closing when no other state can follow, operation_aborted.
  /// Cancellation  terminal, partial, total: no state is lost.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, NodeState)> Token = asio::deferred_t>
  auto async_next(Token&& token = {}) {
    return detail::initiate<void(error_code, NodeState), &detail::start_next_node_state>(std::forward<Token>(token),
                                                                                         queue_);
  }

 private:
  std::shared_ptr<detail::NodeStateQueue> queue_;
};

}  // namespace zklock
