// What is wrong on a board, and which client blocks which.
#pragma once

#include "blocking_tree.hpp"
#include "board_findings.hpp"
#include "lock_board.hpp"

#include <vector>

namespace zklock::tools {

/// Compares a board with what it was at the call before.
///
/// Threads: one at a time.
class BoardDiagnosis {
 public:
  void examine(const LockBoard& board, LockBoard::Time now);
  /// Whether examine() was called twice: before that, only what a single reading shows is found.
  [[nodiscard]] bool is_compared() const noexcept { return calls_ > 1; }

  /// What zklock doctor would find, as of the last call; at most a hundred.
  [[nodiscard]] const std::vector<Finding>& findings() const noexcept { return findings_; }
  /// Which client blocks which, as of the last call; at most 200 entries.
  [[nodiscard]] const std::vector<Blocker>& tree() const noexcept { return tree_; }

 private:
  int calls_ = 0;  // up to 2
  Survey before_;
  LockBoard::Time before_at_;
  std::vector<Finding> findings_;
  std::vector<Blocker> tree_;
};

}  // namespace zklock::tools
