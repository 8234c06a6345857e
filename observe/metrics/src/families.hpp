// Builds what Prometheus collects.
#pragma once

#include "books.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <prometheus/metric_family.h>

namespace zklock::metrics {

/// Makes metrics of one family after another.
class Families {
 public:
  using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

  /// The family that the next metrics belong to.
  Families& begin(std::string name, prometheus::MetricType type, std::string help);
  Families& gauge(std::string name, std::string help) {
    return begin(std::move(name), prometheus::MetricType::Gauge, std::move(help));
  }
  Families& counter(std::string name, std::string help) {
    return begin(std::move(name), prometheus::MetricType::Counter, std::move(help));
  }
  Families& histogram(std::string name, std::string help) {
    return begin(std::move(name), prometheus::MetricType::Histogram, std::move(help));
  }

  template <class Number>
  Families& add(const Labels& labels, Number value) {
    add_value(labels, static_cast<double>(value));
    return *this;
  }
  void add(const Labels& labels, const Histogram& values);

  [[nodiscard]] std::vector<prometheus::MetricFamily> take() { return std::move(all_); }

 private:
  prometheus::ClientMetric& add_metric(const Labels& labels);
  void add_value(const Labels& labels, double value);

  std::vector<prometheus::MetricFamily> all_;
};

/// Prometheus' text format.
[[nodiscard]] std::string to_text(const std::vector<prometheus::MetricFamily>& families);

}  // namespace zklock::metrics
