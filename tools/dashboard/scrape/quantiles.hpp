// Waiting and holding times over the last hour, from the services' histograms: pure arithmetic.
#pragma once

#include "metrics_text.hpp"

#include <chrono>
#include <cstddef>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace zklock::tools {

/// How many observations were at most as long as each bound, in seconds.
using Buckets = std::map<double, double>;

/// The quantile by linear interpolation, as Prometheus computes it; std::nullopt without any observation.
[[nodiscard]] std::optional<double> quantile(const Buckets& buckets, double share);

/// The quantiles of one histogram, from all services together.
class QuantileHistory {
 public:
  using Time = std::chrono::system_clock::time_point;

  /// `metric` without "_bucket".
  explicit QuantileHistory(std::string metric) : metric_{std::move(metric)} {}

  /// What one service has shown. The first time, and when a counter has become smaller, since the service was started
  /// again, it only counts from there on.
  void add(const std::string& service, const std::vector<MetricSample>& samples);
  /// Ends an interval: its quantiles are those of what was observed since the last one.
  void end_interval(Time now);

  struct Point {
    Time at;
    std::optional<double> median;
    std::optional<double> high;  ///< the 99th of 100
  };
  [[nodiscard]] const std::deque<Point>& points() const noexcept { return points_; }

 private:
  std::string metric_;
  std::map<std::string, Buckets> last_;
  Buckets interval_;
  std::deque<Point> points_;
};

}  // namespace zklock::tools
