// As many operations in flight as a client takes, and a link that is cut and restored all the time.
#pragma once

#include <cstddef>

namespace zklock::test {

struct OverloadOptions {
  int seconds = 120;
  std::size_t in_flight = 100'000;
  int cut_every = 10;  // seconds
  int max_busy = 50;   // milliseconds of processor time
};

/// True: every operation has ended within its deadline, the I/O thread was not busy for longer than `max_busy` without a
/// look at its sockets in more than a quarter of the times between two cuts, and the session lives.
[[nodiscard]] bool run_overload(const OverloadOptions& options);

}  // namespace zklock::test
