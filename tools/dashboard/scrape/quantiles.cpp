#include "quantiles.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace zklock::tools {
namespace {

constexpr std::size_t max_points = 720;  // an hour, every five seconds

Buckets buckets_of(const std::string& metric, const std::vector<MetricSample>& samples) {
  Buckets buckets;
  for (const MetricSample& sample : samples) {
    const auto bound = sample.labels.find("le");
    if (sample.name != metric + "_bucket" || bound == sample.labels.end()) continue;
    const auto number = parse_number(bound->second);
    if (number && !std::isnan(*number) && sample.value >= 0 && std::isfinite(sample.value))
      buckets[*number] += sample.value;
  }
  return buckets;
}

}  // namespace

std::optional<double> quantile(const Buckets& buckets, double share) {
  if (buckets.empty() || !(buckets.rbegin()->second > 0)) return std::nullopt;
  const double rank = share * buckets.rbegin()->second;
  double below = 0;
  double lower = 0;
  for (const auto& [bound, count] : buckets) {
    if (count < rank) {
      below = count;
      lower = bound;
      continue;
    }
    if (std::isinf(bound) || count <= below) return lower;
    return lower + (bound - lower) * std::max(rank - below, 0.0) / (count - below);
  }
  return lower;
}

void QuantileHistory::add(const std::string& service, const std::vector<MetricSample>& samples) {
  Buckets now = buckets_of(metric_, samples);
  const auto found = last_.find(service);
  if (found != last_.end()) {
    const Buckets& before = found->second;
    const auto count_before = [&](double bound) {
      const auto old = before.find(bound);
      return old == before.end() ? 0.0 : old->second;
    };
    const bool is_reset =
        std::ranges::any_of(now, [&](const auto& one) { return one.second < count_before(one.first); });
    if (!is_reset)
      for (const auto& [bound, count] : now) interval_[bound] += count - count_before(bound);
  }
  last_.insert_or_assign(service, std::move(now));
}

void QuantileHistory::end_interval(Time now) {
  points_.push_back({now, quantile(interval_, 0.5), quantile(interval_, 0.99)});
  interval_.clear();
  if (points_.size() > max_points) points_.pop_front();
}

}  // namespace zklock::tools
