// Metrics and health checks of a service that uses a lock: three lines, and a look at what they serve.
//
// Prints two metrics of the lock, and the answer of /readyz while ZooKeeper is there and after it has gone.
#include <zklock/metrics/server.hpp>
#include <zklock/recipes/locks/inter_process_mutex.hpp>
#include <zklock/testing/test_server.hpp>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <iostream>
#include <memory>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

/// As `curl` would ask; gives the lines of the answer that begin so.
std::string ask(const zklock::metrics::Server& server, const std::string& path, const std::string& wanted) {
  asio::ip::tcp::iostream http{"127.0.0.1", std::to_string(server.port())};
  http << "GET " << path << " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" << std::flush;
  std::string found;
  for (std::string line; std::getline(http, line);)
    if (line.starts_with(wanted)) found += line + '\n';
  return found;
}

}  // namespace

int main() try {
  zklock::testing::TestServer zookeeper;
  asio::thread_pool service{1};  // the service's own executor

  const auto metrics = std::make_shared<zklock::metrics::Metrics>();
  zklock::Client client{{.connect_string = zookeeper.connect_string(), .observers = {metrics}}};
  const zklock::metrics::Server server{service.get_executor(), metrics, {client}};

  const zklock::InterProcessMutex mutex{client, "/examples/metrics"};
  const zklock::Lease lease = mutex.async_acquire(5s, asio::use_future).get();
  std::cout << ask(server, "/metrics", "zklock_holders") << ask(server, "/metrics", "zklock_leases{")
            << ask(server, "/readyz", "HTTP");

  zookeeper.stop();
  zklock::StateStream states = client.states();
  while (states.async_next(asio::use_future).get() != zklock::ConnectionState::suspended) continue;
  std::cout << ask(server, "/readyz", "HTTP") << ask(server, "/livez", "HTTP");
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
