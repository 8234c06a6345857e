// The bounds of what a lock may cost.
#pragma once

#include <map>
#include <string>
#include <utility>

namespace zklock::bench {

/// Reads a file with one line for each bound: workload, metric, bound; '#' begins a comment. A metric without a bound
/// is only printed.
class Bounds {
 public:
  /// Throws std::runtime_error.
  explicit Bounds(const std::string& file);

  /// Prints a line, and records if the value is above its bound.
  void judge(const std::string& workload, const std::string& metric, double measured);
  [[nodiscard]] bool all_kept() const noexcept { return all_kept_; }

 private:
  std::map<std::pair<std::string, std::string>, double> bounds_;
  bool all_kept_ = true;
};

}  // namespace zklock::bench
