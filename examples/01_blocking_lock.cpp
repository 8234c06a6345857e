// A lock for which threads wait, with the standard library's own guards.
//
// Prints:
//   first: holds the lock, token grows: yes
//   second: not free within 200 ms
//   second: holds the lock now
#include "support/ensemble.hpp"

#include <zklock/client.hpp>
#include <zklock/recipes/locks/inter_process_mutex.hpp>

#include <iostream>
#include <mutex>

using namespace std::chrono_literals;

int main() try {
  const example::Ensemble ensemble;
  // Two clients, as in two processes: each has a session of its own.
  const zklock::Client first_client{{.connect_string = ensemble.connect_string()}};
  const zklock::Client second_client{{.connect_string = ensemble.connect_string()}};
  zklock::InterProcessMutex first{first_client, "/examples/orders"};
  zklock::InterProcessMutex second{second_client, "/examples/orders"};

  std::unique_lock held{first};  // waits as long as it takes
  const auto earlier_token = first.fencing_token();
  held.unlock();
  held.lock();
  std::cout << "first: holds the lock, token grows: " << (first.fencing_token() > earlier_token ? "yes" : "no") << '\n';

  // The timeout is for the whole call; a lock not acquired leaves no trace in ZooKeeper.
  std::unique_lock wanted{second, 200ms};
  if (!wanted) std::cout << "second: not free within 200 ms\n";

  held.unlock();
  if (wanted.try_lock_for(10s)) std::cout << "second: holds the lock now\n";
  return wanted ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
