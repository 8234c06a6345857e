// What may be wrong with locks: pure decisions on a survey.
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
  note  ///< may be intended
};

/// A problem or a note. Scripts may depend on `kind`, not on the other texts: "deadlock", "stuck", "persistent-node",
/// "malformed-name", "sequence-end", "mixed-locks", "foreign-data", "foreign-child", "unreadable", "cut-off".
struct Finding {
  Severity severity = Severity::problem;
  std::string kind;
  std::string node;    ///< the path of the node concerned
  std::string what;    ///< what is wrong with it
  std::string remedy;  ///< what to do about it: printable, and its commands are for a shell as they are
};

[[nodiscard]] std::string_view to_string(Severity severity) noexcept;

/// Finds circles of clients among the nodes that still exist.
[[nodiscard]] std::vector<Finding> find_circles(const std::vector<WaitQueue>& still_there);

/// The times by which a queue is judged to be stuck.
struct Watched {
  std::chrono::milliseconds wait;               ///< between the two readings
  std::chrono::milliseconds stuck_after;        ///< how long the next waiter may have waited
  std::chrono::system_clock::time_point now{};  ///< by this machine's clock
};

/// Finds the wait queues whose first node is the same as before, and whose next waiter has waited for long.
[[nodiscard]] std::vector<Finding> find_stuck(const Survey& before, const std::vector<WaitQueue>& still_there,
                                              const Watched& watched);

/// Finds what a single reading shows: nodes that no session's end will remove, names and data of other programs,
/// numbers near the end, locks that do not exclude each other.
[[nodiscard]] std::vector<Finding> find_oddities(const LockDirectory& directory);

/// Reports what was not read.
[[nodiscard]] std::vector<Finding> find_gaps(const Survey& survey);

/// All of these, problems first, then notes. Between the readings `before` and `shown`, which may be the same one, the
/// nodes `still_there` have been there together. Without a time between them nothing is stuck.
[[nodiscard]] std::vector<Finding> find_all(const Survey& before, const std::vector<WaitQueue>& still_there,
                                            const Survey& shown, const Watched& watched);

}  // namespace zklock::tools
