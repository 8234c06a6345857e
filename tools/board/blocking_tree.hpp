// Which client blocks which: a pure search.
#pragma once

#include "wait_queues.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace zklock::tools {

/// A client, and the clients that wait for a lock that it holds. A client is a session.
struct Blocker {
  LockParticipant one;      ///< at the top a node that it holds; below, the node by which it waits
  std::size_t depth = 0;    ///< 0: it holds a lock that others wait for, and waits for none itself
  std::size_t blocked = 0;  ///< how many waits there are below it
  bool seen_above = false;  ///< it stands further up in the same branch, too: a circle
};

/// The tree in the order in which it is shown: each client is followed by those that it blocks, where it comes up
/// first. The client that blocks most comes first. Clients in a circle that nothing outside blocks begin with one of
/// them. At most `limit` entries.
[[nodiscard]] std::vector<Blocker> blocking_tree(const std::vector<WaitQueue>& queues, std::size_t limit);

}  // namespace zklock::tools
