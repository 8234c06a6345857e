// The workloads that are counted: a number of locks, acquired in one way or another.
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

}  // namespace zklock::bench
