// How the work grows with the number of those that ask for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <limits>

namespace zklock::test {

/// Eight times as many take this many times the processor time. What is linear takes eight times, what is quadratic 64.
/// `work(n)` does it for n, in this thread. The least of three tries counts, since others use the caches, too.
template <class Work>
double growth(std::size_t n, Work work) {
  const auto measure = [&work](std::size_t many) {
    const auto now = [] {
      std::timespec time{};
      ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
      return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
    };
    const double before = now();
    work(many);
    return now() - before;
  };
  double few = std::numeric_limits<double>::max();
  double many = few;
  for (int i = 0; i < 3; ++i) {
    few = std::min(few, measure(n));
    many = std::min(many, measure(8 * n));
  }
  return many / few;
}

}  // namespace zklock::test
