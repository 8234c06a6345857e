// The counts of a working subject.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace zklock::bench {

using Clock = std::chrono::steady_clock;

/// Tells when the workers work, and when their work counts. Threads: any.
class Window {
 public:
  [[nodiscard]] bool stopping() const noexcept { return stopping_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool counting() const noexcept { return counting_.load(std::memory_order_relaxed); }
  void count(bool on) noexcept { counting_ = on; }
  void stop() noexcept { stopping_ = true; }

 private:
  std::atomic<bool> stopping_{false};
  std::atomic<bool> counting_{false};
};

/// What one worker has done in the window. Written by its thread; read by other threads once it has stopped.
class Tally {
 public:
  explicit Tally(const Window& window) : window_{window} {}

  /// Adds a cycle, from the request for the lock to the end of its release.
  void add(Clock::time_point asked) {
    if (!window_.counting()) return;
    latencies_.push_back(std::chrono::duration<float, std::micro>{Clock::now() - asked}.count());
  }
  /// Adds cycles that are too short to read the clock for each.
  void add_many(std::uint64_t cycles) noexcept {
    if (window_.counting()) untimed_ += cycles;
  }
  [[nodiscard]] const std::vector<float>& latencies() const noexcept { return latencies_; }
  [[nodiscard]] std::uint64_t cycles() const noexcept { return untimed_ + latencies_.size(); }

 private:
  const Window& window_;
  std::vector<float> latencies_;  // microseconds
  std::uint64_t untimed_ = 0;
};

/// The tallies of all workers that do the same thing. Threads: add() from any; the others once all have stopped.
class Tallies {
 public:
  explicit Tallies(std::string name) : name_{std::move(name)} {}

  Tally& add(const Window& window) {
    const std::lock_guard lock{mutex_};
    return tallies_.emplace_back(window);
  }
  void clear() { tallies_.clear(); }
  /// The counted work: "locks", or "reads" and "writes".
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] bool empty() const noexcept { return tallies_.empty(); }

  [[nodiscard]] std::uint64_t cycles() const {
    std::uint64_t sum = 0;
    for (const Tally& tally : tallies_) sum += tally.cycles();
    return sum;
  }
  /// The microseconds that this share of the cycles took at most; 0 if none was timed.
  [[nodiscard]] std::vector<float> quantiles(std::initializer_list<double> shares) const {
    std::vector<float> all;
    for (const Tally& tally : tallies_) all.insert(all.end(), tally.latencies().begin(), tally.latencies().end());
    std::sort(all.begin(), all.end());
    std::vector<float> result;
    for (const double share : shares)
      result.push_back(all.empty() ? 0 : all[static_cast<std::size_t>(share * static_cast<double>(all.size() - 1))]);
    return result;
  }

 private:
  std::string name_;
  std::mutex mutex_;
  std::deque<Tally> tallies_;
};

}  // namespace zklock::bench
