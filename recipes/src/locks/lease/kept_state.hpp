// The decisions of a kept lock, without I/O: what becomes of the node, and of the local acquires, at each event.
#pragma once

#include <cstdint>

namespace zklock::detail {

/// What a client has at hand for its next local acquire.
enum class KeptState : std::uint8_t {
  free,   ///< nothing: an acquire goes through the queue
  held,   ///< a node that an owner holds, and that nobody else asks for
  kept,   ///< the same, without an owner
  asked,  ///< a node that an owner holds, and that is deleted at the release: another client may want the lock. Nobody
          ///< waits without a node any more but those that are let in before
};

enum class KeptEvent : std::uint8_t {
  armed,     ///< an acquire has got the lock at once, alone in the queue, and the children are watched
  wanted,    ///< a local acquire
  released,  ///< the owner gives the lock back
  asked,     ///< the watch has fired, the time is up, or the proof has failed otherwise
};

enum class KeptAction : std::uint8_t {
  none,
  grant,     ///< the lock is this acquire's
  wait,      ///< this acquire waits without a node
  enqueue,   ///< this acquire makes a node
  hand_off,  ///< the lock goes to the first acquire that waits without a node
  flush,     ///< the acquires that wait without nodes make them, in their order
  remove,    ///< delete the node
};

struct KeptStep {
  KeptState next;
  KeptAction action;

  friend bool operator==(const KeptStep&, const KeptStep&) = default;
};

/// `has_waiters`: acquires wait without nodes; at a release of an asked node, the next of them may be let in.
[[nodiscard]] KeptStep next_step(KeptState state, KeptEvent event, bool has_waiters) noexcept;

}  // namespace zklock::detail
