// As many operations in flight as a client takes, and a link that is cut and restored all the time.
#pragma once

#include <cstddef>

namespace zklock::test {

struct OverloadOptions {
  int seconds = 120;
  std::size_t in_flight = 100'000;
  int cut_every = 10;    // seconds
  int max_busy = 50;     // milliseconds of processor time
  int min_success = 90;  // percent
};

/// True: every operation has ended within its deadline, and so many of them without an error; the I/O thread was busy
/// for `max_busy` at most without a look at its sockets, and in one time between two cuts for five times as long, apart
/// from what the machine stood still; and the session lives.
[[nodiscard]] bool run_overload(const OverloadOptions& options);

}  // namespace zklock::test
