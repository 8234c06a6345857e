// Counts of observed values by buckets.
#pragma once

#include <zklock/clock.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace zklock::metrics {

/// prometheus::Histogram has a mutex and atomics for each number; here the books' one mutex protects them all, so that a
/// scrape sees numbers that belong together. Its library also cannot be linked where vectors have another layout
/// (-D_GLIBCXX_DEBUG).
///
/// Threads: one at a time.
class Histogram {
 public:
  /// `bounds` must outlive it.
  explicit Histogram(const std::vector<double>& bounds) : bounds_{&bounds}, counts_(bounds.size() + 1) {}

  void observe(Clock::duration value) {
    const double seconds = std::chrono::duration<double>(value).count();
    const auto bucket = std::ranges::lower_bound(*bounds_, seconds);  // a bound belongs to its bucket
    ++counts_[static_cast<std::size_t>(bucket - bounds_->begin())];
    sum_ += seconds;
  }

  [[nodiscard]] const std::vector<double>& bounds() const noexcept { return *bounds_; }
  /// Not cumulative; the last one has what is above all bounds.
  [[nodiscard]] const std::vector<std::uint64_t>& counts() const noexcept { return counts_; }
  [[nodiscard]] double sum() const noexcept { return sum_; }

 private:
  const std::vector<double>* bounds_;
  std::vector<std::uint64_t> counts_;
  double sum_ = 0;
};

}  // namespace zklock::metrics
