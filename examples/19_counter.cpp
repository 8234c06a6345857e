// A number that processes count up together: each increment is made exactly once, and each number is one caller's.
//
// Prints "a 1", "b 2", "200 at once: 202".
#include "support/ensemble.hpp"

#include <zklock/recipes/counters/distributed_atomic.hpp>

#include <boost/asio/use_future.hpp>

#include <exception>
#include <future>
#include <iostream>
#include <vector>

int main() try {
  const example::Ensemble ensemble;
  const zklock::Client client{{.connect_string = ensemble.connect_string()}};
  const zklock::Client other{{.connect_string = ensemble.connect_string()}};
  const zklock::DistributedAtomicLong orders{client, "/counters/orders"};
  const zklock::DistributedAtomicLong same{other, "/counters/orders"};

  std::cout << "a " << orders.increment().after << '\n';
  std::cout << "b " << same.increment().after << '\n';

  // What one object gets at once is written together: a hundred increments are a few writes.
  std::vector<std::future<zklock::AtomicResult<std::int64_t>>> all;
  for (int i = 0; i < 100; ++i) {
    all.push_back(orders.async_increment(boost::asio::use_future));
    all.push_back(same.async_increment(boost::asio::use_future));
  }
  for (auto& each : all) each.get();
  std::cout << "200 at once: " << orders.get() << '\n';
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
