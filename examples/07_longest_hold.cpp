// A longest hold: a holder that is alive and stuck keeps the lock from nobody for longer than it said.
//
// Prints:
//   first: holds the lock, and has extended it by name: yes
//   second: holds the lock now, with a greater token: yes
//   first: max_hold_passed
#include "support/ensemble.hpp"

#include <zklock/recipes/locks/inter_process_mutex.hpp>

#include <boost/asio/use_future.hpp>

#include <iostream>

using namespace std::chrono_literals;
using boost::asio::use_future;

int main() try {
  const example::Ensemble ensemble;
  const zklock::Client one{ensemble.connect_string()};
  const zklock::Client other{ensemble.connect_string()};
  const zklock::InterProcessMutex first{one, "/examples/report", {.max_hold = 3s}};
  const zklock::InterProcessMutex second{other, "/examples/report"};

  zklock::Lease stuck = first.async_acquire(use_future).get();
  const bool extended = stuck.extend(4s);  // from now on; to enter the lock again would not extend it
  std::cout << "first: holds the lock, and has extended it by name: " << (extended ? "yes" : "no") << '\n';

  // The first one does nothing any more, neither release nor extend. Its client ends the hold.
  const zklock::Lease next = second.async_acquire(use_future).get();
  const bool greater = next.fencing_token() > stuck.fencing_token();
  std::cout << "second: holds the lock now, with a greater token: " << (greater ? "yes" : "no") << '\n';
  std::cout << "first: " << stuck.cause_of_loss() << '\n';
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
