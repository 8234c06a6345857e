// The board as metrics, in Prometheus' text format.
#pragma once

#include "board/board_feed.hpp"

#include <string>

namespace zklock::tools {

/// The queues of the locks, at most 1,000 of them, those with the most waiters first.
[[nodiscard]] std::string to_metrics(const LockBoard& board, const BoardFeed::Status& status);

}  // namespace zklock::tools
