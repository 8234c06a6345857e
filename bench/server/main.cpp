// Starts ZooKeeper servers for the benchmark, prints their addresses and process ids, and stops them when its input
// ends.
#include <zklock/testing/test_ensemble.hpp>

#include <cstdint>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>

namespace {

using namespace std::chrono_literals;

/// A JVM as in production: both compilers, enough memory. The server removes no directory between two locks.
zklock::testing::TestServerOptions options(bool fsync) {
  return {.container_check = 1h,
          .fsync = fsync,
          .jvm_options = {"-XX:TieredStopAtLevel=4", "-XX:CompileThresholdScaling=1", "-Xmx1g", "-Xms256m"}};
}

/// Prints "CONNECT_STRING PID..." and serves until the end of the input.
void serve(const std::string& connect_string, const std::vector<int>& processes) {
  std::cout << connect_string;
  for (const int process : processes) std::cout << " " << process;
  std::cout << std::endl;
  for (std::string line; std::getline(std::cin, line);) continue;
}

std::string from_hex(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  return bytes;
}

/// The same; "restart" starts the server again, "end SESSION PASSWORD" ends a session. Each is answered by the line
/// that comes first.
void serve(zklock::testing::TestServer& server) {
  const auto say = [&] { std::cout << server.connect_string() << " " << server.pid() << std::endl; };
  say();
  for (std::string line; std::getline(std::cin, line); say()) {
    std::istringstream words{line};
    std::string verb;
    std::int64_t session = 0;
    std::string password;
    words >> verb >> session >> password;
    if (verb == "restart") server.restart();
    if (verb == "end") server.end_session(session, from_hex(password));
  }
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
    zklock::testing::TestServer server{options(kind == "durable")};
    serve(server);
  } else {
    std::cerr << "usage: zklock_bench_server fast|durable|ensemble\n";
    return 2;
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << "zklock_bench_server: " << error.what() << "\n";
  return 1;
}
