// What is counted: so many locks, one way or another.
#pragma once

#include <functional>
#include <span>
#include <string>

namespace zklock::bench {

struct Workload {
  std::string name;
  /// Connects to the server, runs `locks` cycles for warmth, then `locks` cycles between `begin` and `end`.
  void (*run)(const std::string& server, int locks, const std::function<void()>& begin,
              const std::function<void()>& end);
  bool for_callgrind = true;  ///< small enough for a few locks to show what one costs
};

std::span<const Workload> workloads();

}  // namespace zklock::bench
