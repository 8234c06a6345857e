// The decisions of the local handoff, without I/O: what the delete of a leaving node tells of the nodes behind it.
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

/// The handoff to one local waiter. A value; each event gives the next one. A waiter that looks at the queue begins
/// with a new one: what it has learned before says nothing about the grant that follows.
///
/// It needs no identity, since no earlier delete that succeeds is answered after the next one has taken the waiter:
///   - Each attempt has a waiter of its own.
///   - A waiter is taken again only after a list of the queue that has come, and the list was sent behind the earlier
///     delete. Replies come in the order of the requests; only failures at once, without a link, may come before, and
///     such a list has not come.
struct Handoff {
  HandoffState state = HandoffState::not_taken;
  NodeFact fact = NodeFact::unknown;  // once the state is known

  friend bool operator==(const Handoff&, const Handoff&) = default;
};

struct HandoffStep {
  Handoff next;
  HandoffAction action = HandoffAction::none;

  friend bool operator==(const HandoffStep&, const HandoffStep&) = default;
};

/// Its predecessor leaves, and will tell.
[[nodiscard]] Handoff on_taken(Handoff handoff) noexcept;
/// It has the lock, and nothing but the handoff may say that its node exists.
[[nodiscard]] HandoffStep on_granted(Handoff handoff) noexcept;
/// The reply to its predecessor's delete.
[[nodiscard]] HandoffStep on_reply(Handoff handoff, NodeFact fact) noexcept;

}  // namespace zklock
