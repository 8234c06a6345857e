// Clients that wait for each other: a pure search.
#pragma once

#include "lines.hpp"

#include <vector>

namespace zklock::tools {

/// One client waits for another one's node.
struct Wait {
  Participant waiting;
  Participant ahead;
};

/// Each wait is for a node of the next one's client, the last for one of the first's.
using Circle = std::vector<Wait>;

/// Circles of clients: each holds what the one before it waits for, or waits in front of it, and waits itself. A client
/// is a session; it is taken to give nothing back while it waits for something else, which is false only of one that
/// does both by different threads.
///
/// Circles that have a client in common are a knot: one of them is found. Takes time in proportion to the nodes, as
/// long as knots are few.
[[nodiscard]] std::vector<Circle> find_deadlocks(const std::vector<Line>& lines);

}  // namespace zklock::tools
