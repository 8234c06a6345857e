// What a lock may cost.
#pragma once

#include <map>
#include <string>
#include <utility>

namespace zklock::bench {

/// From a file with a line for each: workload, metric, bound; '#' begins a comment. What has no bound is only printed.
class Bounds {
 public:
  /// Throws std::runtime_error.
  explicit Bounds(const std::string& file);

  /// Prints a line, and remembers if it is above its bound.
  void judge(const std::string& workload, const std::string& metric, double measured);
  [[nodiscard]] bool all_kept() const noexcept { return all_kept_; }

 private:
  std::map<std::pair<std::string, std::string>, double> bounds_;
  bool all_kept_ = true;
};

}  // namespace zklock::bench
