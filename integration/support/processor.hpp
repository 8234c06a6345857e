// What the kernel says of the calling thread's processor.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <fstream>

namespace zklock::test {

/// How long this thread has been ready to run and has waited for a processor. If the machine stands still while the
/// thread is not ready, that is not in it.
inline std::chrono::nanoseconds time_without_processor() {
  std::ifstream file{"/proc/thread-self/schedstat"};
  std::int64_t ran = 0, waited = 0;
  file >> ran >> waited;
  return std::chrono::nanoseconds{waited};
}

/// The processor time that this thread has used.
inline std::chrono::nanoseconds processor_time_of_this_thread() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

}  // namespace zklock::test
