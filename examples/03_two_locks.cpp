// Two locks at once, acquired by many threads in any order without a deadlock: std::scoped_lock backs off and tries
// again.
//
// Prints:
//   100 transfers, 200 in all accounts
#include "support/ensemble.hpp"

#include <zklock/client.hpp>
#include <zklock/recipes/locks/inter_process_mutex.hpp>

#include <future>
#include <iostream>
#include <mutex>

namespace {

struct Account {
  zklock::InterProcessMutex mutex;
  int balance = 100;
};

void transfer(Account& from, Account& to, int times) {
  for (int i = 0; i < times; ++i) {
    const std::scoped_lock both{from.mutex, to.mutex};
    --from.balance;
    ++to.balance;
  }
}

}  // namespace

int main() try {
  const example::Ensemble ensemble;
  const zklock::Client client{{.connect_string = ensemble.connect_string()}};
  Account ann{zklock::InterProcessMutex{client, "/examples/accounts/ann"}};
  Account ben{zklock::InterProcessMutex{client, "/examples/accounts/ben"}};

  // The threads acquire the locks in opposite orders. The owner of a blocking lock is the thread.
  auto there = std::async(std::launch::async, [&] { transfer(ann, ben, 50); });
  auto back = std::async(std::launch::async, [&] { transfer(ben, ann, 50); });
  there.get();
  back.get();
  std::cout << "100 transfers, " << ann.balance + ben.balance << " in all accounts\n";
  return ann.balance == 100 && ben.balance == 100 ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
