// The settings of a lock object: whose names its nodes have, whether its client keeps the lock between two uses, and
// how long an owner may hold it.
#pragma once

#include <zklock/recipes/locks/lock_kind.hpp>

#include <chrono>
#include <cstdint>

namespace zklock {

/// What a client asks of the server when it grants a lock that it has kept.
enum class Keeping : std::uint8_t {
  /// One write, whose reply proves that the lock is still the client's, and gives a greater token. All guarantees hold,
  /// except that the guard of a lease that has ended passes until the next grant.
  confirmed,
  /// Nothing. Exclusion among clients holds. What does not (docs/locks.md, "Keeping a lock"): all the holders of one
  /// keeping have the same token, which a reader may get after others have got a greater one; the guard of a lease that
  /// has ended passes as long as the client keeps the lock; another client that comes is served a little later than its
  /// place in the queue says; and a node that an operator deletes is missed a little later.
  silent
};

/// Trivial: it may be part of a co_await expression (docs/contributing.md, compiler traps).
struct LockSettings {
  LockNaming naming = LockNaming::curator;
  /// Zero or less: each release deletes the lock's node. Otherwise the client may keep the node when the lock is
  /// released, until another client asks for the lock, or for this time without a use; the next acquire of this client
  /// then does not wait for the queue. The client looks at the queue again at least this often.
  std::chrono::milliseconds keep{0};
  Keeping keeping = Keeping::confirmed;
  /// When another client asks for a lock that this client keeps silently, up to so many of this client's acquires that
  /// wait by then get the lock ahead of it, one after the other: one read each in the place of a trip through the queue.
  /// An acquire that comes later waits behind the other client. So that client is overtaken at most so often in each
  /// keeping, and waits for as many critical sections more. A lost link, a request to revoke, and the loss of the node
  /// end it at once. Zero or less: none. With Keeping::confirmed it means nothing.
  int local_hand_overs = 0;
  /// Zero or less: an owner holds the lock until it releases or loses it. Otherwise, when this time has passed since
  /// the grant, the lease is lost, and the client deletes the node: also that of a program that is alive and stuck. To
  /// re-enter does not extend it; Lease::extend does. With `keep` it counts from each grant.
  std::chrono::milliseconds max_hold{0};
};

}  // namespace zklock
