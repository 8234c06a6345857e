// What `zklock top` prints where there is no screen: pure decisions.
#pragma once

#include "screen_model.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace zklock::tools {

/// All locks of the board, the longest wait first.
[[nodiscard]] std::string to_table(const LockBoard& board, WallTime now);
/// The same, a line of JSON for each lock.
[[nodiscard]] std::string to_json_lines(const LockBoard& board, WallTime now);

/// Tells what has changed, in lines of JSON.
class ChangeReport {
 public:
  explicit ChangeReport(std::string base) : base_{std::move(base)} {}

  /// A line for each lock that has changed or gone since the last call, for the link, and for the base directory.
  /// A lock is told of when its first nodes were read, or could not be for two seconds.
  [[nodiscard]] std::string changes(const TopView& view);

 private:
  std::string base_;
  std::map<std::string, std::uint64_t> told_;  ///< the locks and their revisions
  bool connected_ = true;
  bool missing_ = false;
};

}  // namespace zklock::tools
