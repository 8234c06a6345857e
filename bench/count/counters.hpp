// What this process does, counted at the calls that leave zklock's code.
#pragma once

#include <cstdint>

namespace zklock::bench {

struct Counters {
  std::uint64_t flights = 0;      ///< sends that followed a receipt, or the start
  std::uint64_t wake_ups = 0;     ///< of the I/O thread: waits for the socket, a timer or another thread
  std::uint64_t allocations = 0;  ///< calls of operator new, on all threads

  friend Counters operator-(const Counters& left, const Counters& right) noexcept {
    return {left.flights - right.flights, left.wake_ups - right.wake_ups, left.allocations - right.allocations};
  }
};

/// The bytes that `malloc` has given out and that are in use, the C client's included.
double bytes_in_use() noexcept;

/// The counts since the process began. Threads: any; what the I/O thread counts is exact while that thread is idle.
Counters count() noexcept;

}  // namespace zklock::bench
