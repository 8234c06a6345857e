// A benchmark that three processes begin together and end together. A process that finds too few others runs nothing.
//
// Prints:
//   too few
//   all are in
//   all have run
#include "support/ensemble.hpp"

#include <zklock/recipes/barriers/distributed_double_barrier.hpp>

#include <atomic>
#include <chrono>
#include <exception>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

constexpr int processes = 3;

/// What each process does. False: too few were there, and none of them runs.
bool run_with_the_others(const std::string& servers, std::chrono::milliseconds wait, std::atomic<int>& have_run) {
  const zklock::Client client{{.connect_string = servers}};
  const zklock::DistributedDoubleBarrier barrier{client, "/examples/benchmark", processes};
  auto membership = barrier.enter(wait);
  if (!membership) return false;
  ++have_run;           // all of them run at this time
  membership->leave();  // the results are complete when this returns
  return true;
}

int main() try {
  const example::Ensemble ensemble;
  std::atomic<int> have_run{0};
  if (!run_with_the_others(ensemble.connect_string(), 200ms, have_run)) std::cout << "too few\n";

  std::atomic<int> in{0};
  std::atomic<int> saw_all{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < processes; ++i)
    threads.emplace_back([&] {
      if (run_with_the_others(ensemble.connect_string(), 30s, have_run)) ++in;
      if (have_run == processes) ++saw_all;
    });
  for (std::thread& each : threads) each.join();
  std::cout << (in == processes ? "all are in\n" : "some are not in\n");
  std::cout << (saw_all == processes ? "all have run\n" : "one left early\n");
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
