// A hundred partitions, spread over workers that come and go: only those of a worker that came or went move.
//
// Prints how many each has, and how many have moved: "ann: 36 ben: 37 cleo: 27 (27 moved)".
#include "support/ensemble.hpp"

#include <zklock/recipes/nodes/group_member.hpp>
#include <zklock/recipes/nodes/share.hpp>

#include <boost/asio/use_future.hpp>

#include <iostream>
#include <list>
#include <map>
#include <string>
#include <utility>
#include <vector>

struct Worker {
  Worker(const std::string& servers, const std::string& name)
      : client{{.connect_string = servers}}, member{client, "/examples/workers", name} {}

  void wait_for(std::size_t members) {
    while (member.members().ids().size() != members) changes.async_next(boost::asio::use_future).get();
  }

  zklock::Client client;
  zklock::GroupMember member;
  zklock::GroupChangeStream changes = member.group().changes();
};

int main() try {
  const example::Ensemble ensemble;
  std::vector<std::string> partitions;
  for (int i = 0; i < 100; ++i) partitions.push_back("partition-" + std::to_string(i));

  std::list<Worker> workers;
  std::map<std::string, std::string> owners;
  const auto show = [&] {
    for (Worker& each : workers) each.wait_for(workers.size());  // all of them see, and compute, the same
    int moved = 0;
    for (const auto& [name, own] : zklock::share(partitions, workers.front().member.members().ids())) {
      std::cout << name << ": " << own.size() << ' ';
      for (const std::string& partition : own) moved += std::exchange(owners[partition], name) != name ? 1 : 0;
    }
    std::cout << '(' << moved << " moved)\n";
  };

  for (const char* name : {"ann", "ben", "cleo", "dan"}) {
    workers.emplace_back(ensemble.connect_string(), name);
    show();
  }
  workers.pop_front();  // ann goes
  show();
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
