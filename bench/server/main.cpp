// Starts ZooKeeper servers for the benchmark, prints their addresses and process ids, and stops them when its input
// ends.
#include <zklock/testing/test_ensemble.hpp>

#include <iostream>
#include <string>
#include <string_view>

namespace {

using namespace std::chrono_literals;

/// A JVM as in production: both compilers, enough memory. The server removes no directory between two locks.
zklock::testing::TestServerOptions options(bool fsync) {
  return {.container_check = 1h, .fsync = fsync, .jvm_options = {"-XX:TieredStopAtLevel=4", "-Xmx1g", "-Xms256m"}};
}

/// Prints "CONNECT_STRING PID..." and serves until the end of the input.
void serve(const std::string& connect_string, const std::vector<int>& processes) {
  std::cout << connect_string;
  for (const int process : processes) std::cout << " " << process;
  std::cout << std::endl;
  for (std::string line; std::getline(std::cin, line);) continue;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string_view kind = argc == 2 ? argv[1] : "";
  if (kind == "ensemble") {
    const zklock::testing::TestEnsemble ensemble{{.server = options(false)}};
    std::vector<int> processes;
    for (std::size_t i = 0; i < ensemble.size(); ++i) processes.push_back(ensemble.server(i).pid());
    serve(ensemble.server(ensemble.follower()).connect_string(), processes);  // all subjects use the same server
  } else if (kind == "fast" || kind == "durable") {
    const zklock::testing::TestServer server{options(kind == "durable")};
    serve(server.connect_string(), {server.pid()});
  } else {
    std::cerr << "usage: zklock_bench_server fast|durable|ensemble\n";
    return 2;
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << "zklock_bench_server: " << error.what() << "\n";
  return 1;
}
