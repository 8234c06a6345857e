// Waiting for a lock: an attempt's node is created in the wait queue, and waits until it is first.
#pragma once

#include "limits.hpp"
#include "lock_core.hpp"
#include "queue_node.hpp"

#include <zklock/client.hpp>
#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/locks/lease.hpp>
#include <zklock/session.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace zklock {

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

struct ToKeep;
struct ToKeepReading;

/// One owner's acquire, while it is the only one under way: see acquire().
struct LockRequest {
  const std::shared_ptr<detail::LockCore>& core;
  Owner owner;
  LockKind kind;
  const Limits& limits;
  const NodeTraits& node;
  detail::LockAttempt& told;
  detail::PathShare& share;
  Clock::duration max_hold{};              ///< zero or less: no limit
  ToKeep* keeps = nullptr;                 ///< null, unless the lock may be kept at its release: kept_acquire.hpp
  ToKeepReading* keeps_reading = nullptr;  ///< the same for a read lock: kept_read.hpp
};

/// Whether, after this error of an attempt, a new attempt at the end of the queue may succeed.
[[nodiscard]] bool may_start_over(error_code error);

/// Waits in the queue until granted: by one attempt after another, each on one session. The request must outlive the
/// call.
[[nodiscard]] Awaitable<Result<Lease>> wait_in_queue(const LockRequest& request);

/// The node has the lock: makes it the owner's. `token`: as detail::Granted's.
[[nodiscard]] Lease hold(const LockRequest& request, const Session& session, QueueNode& queue_node,
                         detail::NodeCheck check, std::optional<std::int64_t> token = std::nullopt);
/// The owner has that lock, which the client keeps.
[[nodiscard]] Lease kept_lease(detail::LockCore& core, detail::LockAttempt& told,
                               const std::shared_ptr<detail::HeldLock>& held_lock);

}  // namespace zklock
