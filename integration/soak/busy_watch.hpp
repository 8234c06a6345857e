// How long a client's I/O thread works without a look at its sockets.
#pragma once

#include <zklock/client.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace zklock::test {

using Milliseconds = std::chrono::duration<double, std::milli>;

struct Interval {
  Clock::time_point from;
  Clock::time_point to;
};

/// A time in which the thread did not look at its sockets, and the processor time that it seems to have used then.
struct BusyTime {
  Interval when;
  Milliseconds used;
};

/// What of that time was the thread's own work. A virtual processor that its host stops seems to be busy; while it is
/// stopped, a thread there that only sleeps oversleeps: `stalls`, by processor. The thread's processor is unknown: the
/// one that stood still for longest counts.
[[nodiscard]] Milliseconds own_work(const BusyTime& busy, const std::vector<std::vector<Interval>>& stalls);

/// Has a thread on each processor that only sleeps, and notes when one oversleeps by more than 10 ms. It goes before
/// all others if the process may have such threads (as root, mostly); or else the time that it waits for the processor
/// behind other threads does not count, nor does a stall in that time.
class StallWatch {
 public:
  StallWatch();
  ~StallWatch();
  StallWatch(const StallWatch&) = delete;

  /// By processor.
  [[nodiscard]] std::vector<std::vector<Interval>> stalls() const;

 private:
  void sleep_on(std::size_t number, int processor);

  mutable std::mutex mutex_;
  std::vector<std::vector<Interval>> stalls_;
  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
};

/// A timer on the client's I/O thread ticks every 2 ms. The processor time that the thread has used between two ticks
/// it has used without a pause, except for those 2 ms. Other processes do not count.
class BusyWatch {
 public:
  explicit BusyWatch(const Client& client);
  ~BusyWatch();
  BusyWatch(const BusyWatch&) = delete;

  /// The longest own work since the call before.
  [[nodiscard]] Milliseconds take_longest();

 private:
  struct Ticks;

  StallWatch stall_watch_;
  std::shared_ptr<Ticks> ticks_;
};

}  // namespace zklock::test
