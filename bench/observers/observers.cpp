#include "observers.hpp"

#include <zklock/audit/audit_log.hpp>
#include <zklock/recipes/locks/lock_observer.hpp>
#if defined(ZKLOCK_BENCH_METRICS)
#include <zklock/metrics/metrics.hpp>
#endif

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <stdexcept>

#include <unistd.h>

namespace zklock::bench {
namespace {

class Counter final : public Observer, public LockObserver {
 public:
  void on_lock(const LockEvent&) override { count(); }
  void on_request(const RequestEvent&) override { count(); }
  void on_retry(const RetryEvent&) override { count(); }
  void on_state(const StateEvent&) override { count(); }
  void on_cleanup(const CleanupEvent&) override { count(); }

 private:
  void count() noexcept { events_.fetch_add(1, std::memory_order_relaxed); }

  std::atomic<std::uint64_t> events_{0};
};

}  // namespace

std::vector<std::shared_ptr<Observer>> make_observers(Heard heard) {
  switch (heard) {
    case Heard::by_nobody: break;
    case Heard::by_a_counter: return {std::make_shared<Counter>()};
    case Heard::by_an_audit_log: {
      const auto file = std::filesystem::temp_directory_path() / ("zklock-bench-audit-" + std::to_string(::getpid()));
      auto log = std::make_shared<AuditLog>(AuditOptions{.file = file.string()});
      std::filesystem::remove(file);
      return {log};
    }
    case Heard::by_metrics:
#if defined(ZKLOCK_BENCH_METRICS)
      return {std::make_shared<metrics::Metrics>()};
#else
      throw std::invalid_argument{"compiled without ZKLOCK_BUILD_METRICS"};
#endif
  }
  return {};
}

}  // namespace zklock::bench
