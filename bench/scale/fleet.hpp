// A fleet of processes that lock names in one or more ensembles, in virtual time.
#pragma once

#include <chrono>
#include <cstddef>

namespace zklock::bench {

/// How often each name is wanted: all alike, or the k-th 1/k times as often as the first (Zipf's law).
enum class Load { even, skewed };

/// What docs/scaling.md says of the simulation.
struct Fleet {
  std::size_t processes = 16;
  std::size_t workers = 8;  ///< in each process; a worker locks one name after the other, and holds none for long
  std::size_t names = 5'000;
  std::chrono::microseconds one_way{250};     ///< of each message
  std::chrono::microseconds write_time{200};  ///< an ensemble carries 5,000 writes a second
  std::chrono::milliseconds ramp{200};
  std::chrono::milliseconds counted{500};
};

struct Outcome {
  double locks_per_s = 0;
  double busiest = 0;  ///< the share of the locks that the busiest ensemble has
  double p50_ms = 0;   ///< of the waits for a lock
  double p99_ms = 0;
};

/// The same outcome on every machine.
[[nodiscard]] Outcome simulate(const Fleet& fleet, std::size_t ensembles, Load load);

}  // namespace zklock::bench
