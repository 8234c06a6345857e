// A worker with a node that is there as long as its process is, and another process that watches it.
//
// Prints:
//   workers: none
//   workers: a
//   a is at 10.0.0.1
//   a is at 10.0.0.9
//   a is gone
#include "support/ensemble.hpp"

#include <zklock/recipes/caches/watching.hpp>
#include <zklock/recipes/nodes/persistent_node.hpp>

#include <exception>
#include <iostream>
#include <string>

int main() try {
  const example::Ensemble ensemble;
  const zklock::Client working{{.connect_string = ensemble.connect_string()}};
  const zklock::Client watching{{.connect_string = ensemble.connect_string()}};

  // The first item of a watch is the state of now. It survives lost links and sessions, and the end of what it watches.
  zklock::ChildrenWatch workers = zklock::watch_children(watching, "/workers");
  std::cout << "workers: " << (workers.next().names.empty() ? "none" : "some") << '\n';

  // The node comes back on each new session, with its last data.
  zklock::PersistentNode worker{working, "/workers/a", "10.0.0.1"};
  auto now = workers.next();
  while (now.names.empty()) now = workers.next();  // "/workers" itself may come first
  std::cout << "workers: " << now.names.front() << '\n';

  zklock::DataWatch address = zklock::watch_data(watching, worker.path());
  const auto print_next = [&address] {
    const zklock::DataChange change = address.next();
    std::cout << "a is " << (change.node ? "at " + change.node->data : "gone") << '\n';
  };
  print_next();
  worker.set_data("10.0.0.9");
  print_next();
  worker.close();
  print_next();
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
