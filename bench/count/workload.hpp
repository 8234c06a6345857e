// The workloads that are counted: a number of locks, acquired in one way or another; and what is kept in memory.
#pragma once

#include <functional>
#include <span>
#include <string>

namespace zklock::bench {

struct Workload {
  std::string name;
  /// Connects to the server, runs `locks` cycles as a warm-up, then `locks` cycles between `begin` and `end`.
  void (*run)(const std::string& server, int locks, const std::function<void()>& begin,
              const std::function<void()>& end);
  bool for_callgrind = true;  ///< small enough that a few locks show the cost of one
};

std::span<const Workload> workloads();

/// The frames of a debug build are larger.
#ifdef NDEBUG
inline constexpr const char* bytes_metric = "bytes";
#else
inline constexpr const char* bytes_metric = "debug-bytes";
#endif

/// What a client keeps in memory for each leaf of a cache, or for each waiter in a queue.
struct Footprint {
  std::string name;
  int number;  ///< how many are measured
  /// Makes so many at a server that has none, and returns the bytes of one.
  double (*measure)(const std::string& server, int number);
};

std::span<const Footprint> footprints();

}  // namespace zklock::bench
