// The board as metrics, in Prometheus' text format.
#pragma once

#include "board/board_feed.hpp"

#include <string>

namespace zklock::tools {

/// The queues of the locks, by at most 1,000 labels as zklock::metrics makes them; the others have one together. Locks
/// that share a label have the longest queue, the oldest holder and the highest number among them.
[[nodiscard]] std::string to_metrics(const LockBoard& board, const BoardFeed::Status& status);

}  // namespace zklock::tools
