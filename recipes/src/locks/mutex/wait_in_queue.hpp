// Waiting for a lock: an attempt's node is created in the wait queue, and waits until it is first.
#pragma once

#include "kept_lock_node.hpp"
#include "lock_core.hpp"
#include "queue_node.hpp"

#include <zklock/client.hpp>
#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/session.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zklock {

using Children = std::vector<std::string>;

/// What a recipe decides about the nodes of its attempts. A constructor: docs/contributing.md, compiler traps.
struct NodeTraits {
  /// Whether the node, though it is first, is to go back to the end of the queue, for another one of the children.
  using StepsBack = bool (*)(const Children& children, std::string_view own_name);

  /// A lock's: the client's id, entered once.
  explicit NodeTraits(const ClientHandle& client);
  explicit NodeTraits(std::string text, std::string mark = {}, StepsBack decide = nullptr)
      : data{std::move(text)}, prefix{std::move(mark)}, steps_back{decide} {}

  std::string data;
  std::string prefix;  ///< of the marker in the node's name
  /// Null: it never does. If set, each grant rests on a list that was made for it, or on the node's number, by which it
  /// is the only one in the queue.
  StepsBack steps_back{};
};

/// The lock to wait for.
struct LockRequest {
  const detail::LockCore& core;
  LockKind kind;
  const detail::LockAttempt& told;
  bool try_once;  ///< leave the queue at once if another node is ahead
  const NodeTraits& node;
  detail::KeptLock* keeps = nullptr;  ///< null: the node is deleted at the release
};

/// What an attempt is granted.
struct Granted {
  /// What is to say that the node still exists, where the predecessor is gone and the server was not asked since.
  enum class Verifier { none_needed, handoff, server };

  Session session{};
  CreateResult node{};
  std::shared_ptr<LocalWaiter> local_waiter{};
  std::shared_ptr<const ProtectedPath> late_node{};  ///< as QueueNode::late_node()
  Verifier verifier = Verifier::none_needed;
  detail::KeptLockNode::Alone alone{};  ///< if its watch is set, the node may be kept
  bool stepped_back = false;            ///< not granted: it was first, and went back to the end of the queue
};

/// Creates the attempt's node and lists the queue in one flight; creates the directory if it is missing, and finds the
/// node again if a reply was lost.
///
/// The list may be old if the server is behind others, but is never older than the attempt's node, since the reply to
/// its create is there: the list has all nodes ahead, and perhaps some that are gone by now.
[[nodiscard]] Awaitable<Result<Children>> enqueue(Session session, const detail::LockCore& core, QueueNode& queue_node,
                                                  EnqueueBy how = EnqueueBy::list);

/// After a create that failed: finds this attempt's node if it was created after all, or does what gives another try a
/// chance.
[[nodiscard]] Awaitable<error_code> recover(Session session, const detail::LockCore& core, QueueNode& queue_node,
                                            int& rounds_left);

/// Creates the node, and lists the queue in the same flight with a watch on the directory's children: the node may be
/// kept if it is the only one. (If a reply is lost, it is not.)
[[nodiscard]] Awaitable<Result<Children>> enqueue_to_keep(Session session, const detail::LockCore& core,
                                                          QueueNode& queue_node, detail::KeptLockNode::Alone& alone);

/// Whether, after this error of an attempt, a new attempt at the end of the queue may succeed.
[[nodiscard]] bool may_start_over(error_code error);

/// Waits in the queue until granted: by one attempt after another, each on one session. What the request refers to must
/// outlive the call.
[[nodiscard]] Awaitable<Result<Granted>> wait_in_queue(ClientHandle client, LockRequest request, Deadline deadline);

}  // namespace zklock
