// Counts what a lock costs, on any machine: requests, flights, wake-ups, allocations, and instructions under callgrind;
// and the bytes that are kept for a leaf of a cache, and for a waiter.
//
//   zklock_bench_count BOUNDS                 prints a table; fails if a count is above its bound
//   zklock_bench_count WORKLOAD SERVER LOCKS  for callgrind: switches it on for what is counted only
//   zklock_bench_count leaf|waiter SERVER N   prints the bytes of one of so many, which the server does not have yet
#include "bounds.hpp"
#include "counters.hpp"
#include "instructions.hpp"
#include "workload.hpp"

#include <zklock/testing/test_server.hpp>

#include <cstdio>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>

namespace {

using namespace zklock::bench;
using namespace std::chrono_literals;

constexpr int locks_counted = 1024;
constexpr int locks_for_instructions = 64;

const Workload& workload(const std::string& name) {
  for (const Workload& each : workloads())
    if (each.name == name) return each;
  throw std::invalid_argument{"there is no workload '" + name + "'"};
}

bool count_all(const std::string& program, const std::string& bounds_file) {
  // The server grants the clients' session timeout, and removes no directory between two locks.
  const zklock::testing::TestServer server{{.tick = 2s, .container_check = 1h}};
  Bounds bounds{bounds_file};
  std::map<std::string, double> allocations;
  for (const Workload& each : workloads()) {
    Counters before;
    Counters used;
    std::int64_t packets_before = 0;
    std::int64_t packets = 0;
    each.run(
        server.connect_string(), locks_counted,
        [&] {
          packets_before = server.monitor("zk_packets_received");
          before = count();
        },
        [&] {
          used = count() - before;
          packets = server.monitor("zk_packets_received") - packets_before - 1;  // minus the monitor request itself
        });
    const auto per_lock = [](auto number) { return static_cast<double>(number) / locks_counted; };
    bounds.judge(each.name, "requests", per_lock(packets));
    bounds.judge(each.name, "flights", per_lock(used.flights));
    bounds.judge(each.name, "wake-ups", per_lock(used.wake_ups));
    bounds.judge(each.name, "allocations", allocations[each.name] = per_lock(used.allocations));
    if (!each.for_callgrind) continue;
    if (const auto instructions =
            count_instructions(program, each.name, server.connect_string(), locks_for_instructions))
      bounds.judge(each.name, instructions_metric, static_cast<double>(*instructions) / locks_for_instructions);
  }
  for (const Footprint& each : footprints())
    bounds.judge(each.name, bytes_metric, each.measure(server.connect_string(), each.number));
  bounds.judge("observed", "more-allocations", allocations.at("observed") - allocations.at("release-awaited"));
  return bounds.all_kept();
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc == 4) {
    for (const Footprint& each : footprints()) {
      if (each.name != argv[1]) continue;
      std::printf("%.0f\n", each.measure(argv[2], std::stoi(argv[3])));
      return 0;
    }
    workload(argv[1]).run(argv[2], std::stoi(argv[3]), start_instructions, stop_instructions);
    return 0;
  }
  if (argc != 2) throw std::invalid_argument{"usage: zklock_bench_count BOUNDS"};
  return count_all(argv[0], argv[1]) ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "zklock_bench_count: %s\n", error.what());
  return 2;
}
