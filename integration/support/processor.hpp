// What the kernel says of the calling thread's processor.
#pragma once

#include <chrono>
#include <cstdint>
#include <fstream>

namespace zklock::test {

/// How long this thread has been ready to run and has waited for a processor. A machine that stands still is not in it.
inline std::chrono::nanoseconds time_without_processor() {
  std::ifstream file{"/proc/thread-self/schedstat"};
  std::int64_t ran = 0, waited = 0;
  file >> ran >> waited;
  return std::chrono::nanoseconds{waited};
}

}  // namespace zklock::test
