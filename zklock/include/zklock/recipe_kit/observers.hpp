// The observers of one kind among those of a client.
#pragma once

#include <zklock/observer.hpp>

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

namespace spdlog {
class logger;
}

namespace zklock::detail {

void log_thrown(const std::shared_ptr<spdlog::logger>& logger, const std::exception_ptr& thrown) noexcept;

/// A number for the events of one `Kind`; unique in the process.
template <class Kind>
[[nodiscard]] std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

/// Calls each observer that is a `Kind`, which need not be derived from Observer: a family of recipes has a class of
/// its own. Keeps the observers. Immutable.
///
/// Threads: any.
template <class Kind>
class Observers {
 public:
  explicit Observers(std::shared_ptr<spdlog::logger> logger) noexcept : logger_{std::move(logger)} {}

  /// Null if none of them is a `Kind`: what costs nothing when nobody observes is then one test.
  static std::shared_ptr<Observers> of(const std::vector<std::shared_ptr<Observer>>& all,
                                       const std::shared_ptr<spdlog::logger>& logger) {
    if (all.empty()) return nullptr;
    auto found = std::make_shared<Observers>(logger);
    for (const auto& each : all)
      if (auto observer = std::dynamic_pointer_cast<Kind>(each)) found->observers_.push_back(std::move(observer));
    return found->observers_.empty() ? nullptr : found;
  }

  template <class Event>
  void tell(void (Kind::*on_event)(const Event&), const Event& event) const noexcept {
    for (const auto& each : observers_) {
      try {
        ((*each).*on_event)(event);
      } catch (...) {
        if (!has_thrown_.exchange(true)) log_thrown(logger_, std::current_exception());
      }
    }
  }

 private:
  std::vector<std::shared_ptr<Kind>> observers_;
  std::shared_ptr<spdlog::logger> logger_;
  mutable std::atomic<bool> has_thrown_{false};
};

}  // namespace zklock::detail
