// The handoff of a lock to local waiters, that is, waiters of the same client and session: the delete of the leaving
// waiter's node. (A kept lock is handed on without its node: kept_lock.cpp.) Step by step:
//
//   NodePlace::remove, depart          takes the local waiters behind it, and dequeues it       node_place.cpp
//   take_successors, dequeue_and_wake  marks them as taken; posts their wake-up                 local_waiter.cpp
//   NodePlace::hand_off                one request, ahead of theirs: check their nodes, delete  node_place.cpp
//   is_our_turn                        decides whether the lock is theirs, without a reply      wait_in_queue.cpp
//   HeldLock::make, act_on             their leases are out; the reply confirms or ends them    held_lock.cpp
//   LocalWaiter::learn                 brings what the reply tells to the lease, if it is out   local_waiter.cpp
//   fact_of, on_reply ...              what the reply means, and what a lease then does         handoff.cpp
//
// A node that is made while the one ahead leaves is not among those. Its number may tell that it is first
// (position_behind in queue_position.cpp); otherwise it waits for the other node to go, as any waiter, or lists again.
//
// Here are the decisions, without I/O: what that delete tells of the nodes behind.
#pragma once

#include <zklock/error.hpp>

namespace zklock {

/// What is known of a local waiter's node.
enum class NodeFact {
  unknown,  ///< the reply was lost, or does not tell
  exists,   ///< it exists, or existed when its client deleted it
  missing,  ///< it does not exist
};

/// What the server's reply to a check or a delete tells of the node.
[[nodiscard]] NodeFact fact_of(error_code reply) noexcept;

/// How far the handoff to a local waiter has come.
enum class HandoffState {
  not_taken,  ///< no handoff is to tell what is known of its node
  taken,      ///< its predecessor leaves, and the reply to the predecessor's delete will tell
  awaited,    ///< the same, and a lease waits for it: the lock was granted meanwhile
  known,      ///< the reply has come
};

/// What a lease does once the fact is known.
enum class HandoffAction {
  none,        ///< nothing now: the fact is not known yet, or nobody waits for it
  keep,        ///< nothing: its node exists
  lose,        ///< the lock is lost
  ask_server,  ///< ask whether its node exists
};

/// The handoff to one local waiter. A value. A waiter that looks at the queue begins with a new one: what it has
/// learned before says nothing about the grant that follows.
///
/// It needs no identity, since no earlier delete that succeeds is answered after the next one has taken the waiter:
///   - Each attempt has a waiter of its own.
///   - A waiter is taken again only after a list of the queue that has come, and the list was sent behind the earlier
///     delete. Replies come in the order of the requests; only failures at once, without a link, may come before, and
///     such a list has not come.
struct Handoff {
  HandoffState state = HandoffState::not_taken;
  NodeFact fact = NodeFact::unknown;  // once the state is known

  /// Its predecessor leaves, and will tell. A lease that waits already goes on waiting.
  void on_taken() noexcept;
  /// It has the lock, and nothing but the handoff may say that its node exists.
  [[nodiscard]] HandoffAction on_granted() noexcept;
  /// The reply to its predecessor's delete.
  [[nodiscard]] HandoffAction on_reply(NodeFact told) noexcept;

  friend bool operator==(const Handoff&, const Handoff&) = default;
};

}  // namespace zklock
