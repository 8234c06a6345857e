// What may be wrong with locks: pure decisions on what was seen.
#pragma once

#include "deadlock.hpp"
#include "survey.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::tools {

enum class Severity {
  problem,
  note  ///< may be as somebody wants it
};

/// In its words, of which scripts may depend on `kind`: "deadlock", "stuck", "persistent-node", "malformed-name",
/// "sequence-end", "mixed-locks", "foreign-data", "foreign-child", "unreadable", "cut-off".
struct Finding {
  Severity severity = Severity::problem;
  std::string kind;
  std::string node;    ///< its path
  std::string what;    ///< is the matter
  std::string remedy;  ///< what to do about it
};

[[nodiscard]] std::string_view to_string(Severity severity) noexcept;

/// Circles of clients among those who are still there.
[[nodiscard]] std::vector<Finding> find_circles(const std::vector<Line>& still_there);

/// When nothing moves, and for how long.
struct Watched {
  std::chrono::milliseconds wait;               ///< between the looks
  std::chrono::milliseconds stuck_after;        ///< what the next in line may have waited
  std::chrono::system_clock::time_point now{};  ///< by this machine's clock
};

/// Lines whose first is the same as before, and the next has waited for long.
[[nodiscard]] std::vector<Finding> find_stuck(const Survey& before, const std::vector<Line>& still_there,
                                              const Watched& watched);

/// Of a single look: nodes that nobody's end will remove, names and data of another make, numbers near the end, locks
/// that do not exclude each other.
[[nodiscard]] std::vector<Finding> find_oddities(const LockDirectory& directory);

/// What was not looked at.
[[nodiscard]] std::vector<Finding> find_gaps(const Survey& survey);

}  // namespace zklock::tools
