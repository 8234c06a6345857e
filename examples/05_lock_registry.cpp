// Locks by the names of what they protect: clerks that sell and auditors that count, in a shop of many shelves.
//
// Prints:
//   90 sold, 210 left, 300 in all
//   a name is one component of a path: refused
#include "support/ensemble.hpp"

#include <zklock/recipes/locks/lock_registry.hpp>

#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using zklock::Isolation;

int main() try {
  const example::Ensemble ensemble;
  const zklock::Client client{{.connect_string = ensemble.connect_string()}};
  const zklock::LockRegistry registry{client, "/examples/shop"};

  std::map<std::string, int> stock{{"apples", 100}, {"pears", 100}, {"plums", 100}};
  std::map<std::string, int> sold = {{"apples", 0}, {"pears", 0}, {"plums", 0}};
  // Tries up to ten times for two seconds each, with a pause of random length in between.
  const zklock::LockOptions patient{.wait = 2s, .tries = 10, .interval = 50ms};
  const auto clerk = [&] {
    for (int i = 0; i < 10; ++i)
      for (auto& [fruit, left] : stock) {
        const zklock::Lease lease = registry.lock(fruit, Isolation::write, patient);  // locks this shelf, and no other
        --left;
        ++sold.at(fruit);
      }
  };
  std::vector<std::thread> clerks;
  for (int i = 0; i < 3; ++i) clerks.emplace_back(clerk);
  for (std::thread& each : clerks) each.join();

  int all_left = 0;
  int all_sold = 0;
  for (const auto& [fruit, left] : stock) {
    const zklock::Lease lease = registry.lock(fruit, Isolation::read);  // shared with other auditors
    all_left += left;
    all_sold += sold.at(fruit);
  }
  std::cout << all_sold << " sold, " << all_left << " left, " << all_sold + all_left << " in all\n";

  try {
    static_cast<void>(registry.try_lock("apples/rotten", Isolation::write));
  } catch (const std::exception&) {
    std::cout << "a name is one component of a path: refused\n";
  }
  return all_sold == 90 && all_left == 210 ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
