#include "families.hpp"

namespace zklock::metrics {

Families& Families::begin(std::string name, prometheus::MetricType type, std::string help) {
  all_.push_back({std::move(name), std::move(help), type, {}});
  return *this;
}

prometheus::ClientMetric& Families::add_metric(const Labels& labels) {
  prometheus::ClientMetric& metric = all_.back().metric.emplace_back();
  for (const auto& [name, value] : labels) metric.label.push_back({std::string{name}, std::string{value}});
  return metric;
}

void Families::add_value(const Labels& labels, double value) {
  prometheus::ClientMetric& metric = add_metric(labels);
  if (all_.back().type == prometheus::MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
}

void Families::add(const Labels& labels, const Histogram& values) {
  prometheus::ClientMetric::Histogram& histogram = add_metric(labels).histogram;
  for (std::size_t i = 0; i < values.counts().size(); ++i) {
    histogram.sample_count += values.counts()[i];
    if (i < values.bounds().size()) histogram.bucket.push_back({histogram.sample_count, values.bounds()[i]});
  }
  histogram.sample_sum = values.sum();
}

}  // namespace zklock::metrics
