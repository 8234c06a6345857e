// What the kernel says of the calling thread's processor.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <string>

#include <unistd.h>

namespace zklock::test {

/// How long this thread has been ready to run and has waited for a processor. A machine that stands still is not in it.
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

/// For how long a hypervisor has taken the processors from this machine, all of them together. In steps of a tick,
/// mostly 10 ms.
inline std::chrono::nanoseconds time_taken_from_machine() {
  std::ifstream file{"/proc/stat"};
  std::string name;
  std::int64_t user = 0, nice = 0, system = 0, idle = 0, io = 0, interrupts = 0, soft_interrupts = 0, steal = 0;
  file >> name >> user >> nice >> system >> idle >> io >> interrupts >> soft_interrupts >> steal;
  return std::chrono::nanoseconds{std::chrono::seconds{1}} * steal / ::sysconf(_SC_CLK_TCK);
}

}  // namespace zklock::test
