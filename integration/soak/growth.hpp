// What grows over a run, and by how much.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace zklock::test {

/// One quantity, measured whenever the load is at rest.
struct Series {
  std::string name;
  std::string unit{};
  /// How much more it may be at the end than at the start. Negative: it is only shown.
  double bound = 0;
  std::vector<double> seconds{};
  std::vector<double> values{};

  void add(double second, double value) {
    seconds.push_back(second);
    values.push_back(value);
  }
  /// The slope of the line through all values, by least squares. 0 if there are less than two values.
  [[nodiscard]] double slope_per_second() const;
  /// The increase of that line over the run. One high value at the end does not make a leak, and one low value does not
  /// hide one.
  [[nodiscard]] double growth() const;
  /// Counts are exact at rest, so with a bound of 0 the last value counts, too.
  [[nodiscard]] bool has_grown() const;
};

/// A row for each quantity: at the start, at the end, the least and the most, growth an hour, the bound, the verdict.
[[nodiscard]] std::string to_table(const std::vector<Series>& all);

/// The resident memory of this process.
[[nodiscard]] std::int64_t resident_bytes();
/// The memory that malloc has given out and not got back, after it was asked to return what it can. 0 under a
/// sanitizer, which has a malloc of its own.
[[nodiscard]] std::int64_t allocated_bytes();
[[nodiscard]] std::int64_t open_descriptors();
[[nodiscard]] std::int64_t running_threads();

}  // namespace zklock::test
