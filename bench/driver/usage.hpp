// What a driver's process has used so far.
#pragma once

#include <malloc.h>
#include <sys/resource.h>

namespace zklock::bench {

/// The seconds of CPU time, with all threads and the kernel's part.
inline double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// The bytes that are allocated now.
inline double allocated() {
  const auto memory = ::mallinfo2();
  return static_cast<double>(memory.uordblks + memory.hblkhd);
}

}  // namespace zklock::bench
