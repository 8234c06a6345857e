// The metrics of a process's clients and recipes, for Prometheus. docs/metrics.md lists them.
#pragma once

#include <zklock/observer.hpp>
#include <zklock/recipes/caches/follow_observer.hpp>
#include <zklock/recipes/locks/lock_observer.hpp>
#include <zklock/recipes/nodes/node_observer.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

namespace zklock::metrics {

/// The value of the label `lock` for a lock's path at the server.
using Labeller = std::function<std::string(std::string_view path)>;

/// The path, with "*" for each component that looks like an id: a UUID, six digits or more, 16 hexadecimal digits or
/// more. Lock nodes of one sort then have one label.
[[nodiscard]] std::string label_of(std::string_view path);

/// Puts "<base>/*" for each path right below one of these, which are paths at the server, such as those of
/// LockRegistry::base(); and label_of() for all others.
[[nodiscard]] Labeller label_below(std::vector<std::string> bases);

/// What zklock::audit has written, and what it had to drop. Metrics does not know it.
struct AuditCounts {
  std::uint64_t records = 0;
  std::uint64_t dropped = 0;
};

/// Upper bounds of the histograms' buckets, in seconds, in ascending order.
struct Buckets {
  std::vector<double> wait{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300};
  std::vector<double> hold{.001, .005, .01, .05, .1, .5, 1, 5, 10, 30, 60, 300, 900, 3600};
  std::vector<double> request{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5};
  std::vector<double> io_delay{.001, .01, .1, 1, 10};
};

/// Used with designated initialisers.
struct MetricsOptions {
  Labeller labeller = label_of;
  /// The first labels have metrics of their own. All later ones have the label "(other)" together: each label is some
  /// forty series. A label of more than 256 bytes, or that is not UTF-8, is "(other)", too.
  std::size_t max_locks = 64;
  Buckets buckets{};
  /// Asked at each scrape, if it is there.
  std::function<AuditCounts()> audit{};
};

/// How many leases the process has.
struct LeaseCounts {
  std::size_t held = 0;
  std::size_t suspect = 0;  ///< the link is lost
};

/// Hears of the events of clients, their locks, the nodes that they keep and what they follow, and shows them as
/// metrics when it is asked. Pass one object to all clients of the process, by ClientConfig::observers.
///
/// Events and scrapes wait for each other for some ten microseconds: a scrape copies the numbers, and makes the text
/// afterwards.
///
/// Threads: any thread may call anything.
class Metrics final : public Observer,
                      public LockObserver,
                      public NodeObserver,
                      public FollowObserver,
                      public prometheus::Collectable {
 public:
  /// Throws std::invalid_argument if there is no labeller, or the bounds of buckets do not ascend.
  explicit Metrics(MetricsOptions options = {});
  ~Metrics() override;
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  /// All metrics in Prometheus' text format, to be served as `content_type`.
  [[nodiscard]] std::string text() const;
  static constexpr std::string_view content_type = "text/plain; version=0.0.4; charset=utf-8";

  /// For a prometheus::Exposer, or whatever else takes a Collectable.
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

  [[nodiscard]] LeaseCounts leases() const;
  /// Guaranteed deletes that are still to be done.
  [[nodiscard]] std::size_t cleanups_pending() const;

  void on_lock(const LockEvent& event) override;
  void on_node(const NodeEvent& event) override;
  void on_follow(const FollowEvent& event) override;
  void on_request(const RequestEvent& event) override;
  void on_retry(const RetryEvent& event) override;
  void on_state(const StateEvent& event) override;
  void on_cleanup(const CleanupEvent& event) override;
  void on_health(const HealthEvent& event) override;

 private:
  class Books;

  MetricsOptions options_;
  std::unique_ptr<Books> books_;
};

}  // namespace zklock::metrics
