// Clients that wait for each other: a pure search.
#pragma once

#include "wait_queues.hpp"

#include <vector>

namespace zklock::tools {

/// A client waits for another client's node.
struct Wait {
  LockParticipant waiting;
  LockParticipant ahead;
};

/// Each wait is for a node of the next wait's client, the last one for a node of the first wait's client.
using Circle = std::vector<Wait>;

/// Finds circles of clients. Each client holds what the one before it waits for, or waits ahead of it, and waits
/// itself. A client is a session. The search assumes that a client releases nothing while it waits for something else,
/// which is wrong only for a client that does both by different threads.
///
/// If circles have a client in common, one of them is found. Takes time in proportion to the nodes, as long as such
/// circles are few.
[[nodiscard]] std::vector<Circle> find_deadlocks(const std::vector<WaitQueue>& queues);

}  // namespace zklock::tools
