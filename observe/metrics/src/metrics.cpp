#include "books.hpp"

#include <zklock/metrics/metrics.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace zklock::metrics {
namespace {

void check_bounds(const std::vector<double>& bounds) {
  const bool ascend = std::ranges::adjacent_find(bounds, std::ranges::greater_equal{}) == bounds.end();
  if (!ascend || !std::ranges::all_of(bounds, [](double bound) { return std::isfinite(bound); }))
    throw std::invalid_argument{"the bounds of a histogram's buckets must ascend"};
}

MetricsOptions validated(MetricsOptions options) {
  if (!options.labeller) throw std::invalid_argument{"metrics need a labeller"};
  for (const auto* bounds :
       {&options.buckets.wait, &options.buckets.hold, &options.buckets.request, &options.buckets.io_delay})
    check_bounds(*bounds);
  return options;
}

}  // namespace

Metrics::Metrics(MetricsOptions options)
    : options_{validated(std::move(options))}, books_{std::make_unique<Books>(options_)} {}
Metrics::~Metrics() = default;

LeaseCounts Metrics::leases() const { return books_->leases(); }
std::size_t Metrics::cleanups_pending() const { return books_->cleanups_pending(); }

void Metrics::on_lock(const LockEvent& event) { books_->on_lock(event); }
void Metrics::on_node(const NodeEvent& event) { books_->on_node(event); }
void Metrics::on_follow(const FollowEvent& event) { books_->on_follow(event); }
void Metrics::on_request(const RequestEvent& event) { books_->on_request(event); }
void Metrics::on_retry(const RetryEvent&) { books_->on_retry(); }
void Metrics::on_state(const StateEvent& event) { books_->on_state(event); }
void Metrics::on_cleanup(const CleanupEvent& event) { books_->on_cleanup(event); }
void Metrics::on_health(const HealthEvent& event) { books_->on_health(event); }

}  // namespace zklock::metrics
