// The orderly end of a service that is sent SIGTERM: release, close, and let the io_context run until all is done.
//
// Prints:
//   serves
//   asked to end: released and closed
//   the next service has the lock at once: yes
#include "support/ensemble.hpp"

#include <zklock/recipes/locks/inter_process_mutex.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <csignal>
#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> serve(zklock::Client& client) {
  asio::signal_set signals{co_await asio::this_coro::executor, SIGTERM, SIGINT};
  const zklock::InterProcessMutex mutex{client, "/examples/service"};
  zklock::Lease lease = co_await mutex.async_acquire(asio::use_awaitable);
  std::cout << "serves\n";
  std::raise(SIGTERM);  // as systemd or Kubernetes does
  co_await signals.async_wait(asio::use_awaitable);

  // First what the lock protects comes to its end. Then the servers are told, while the io_context still runs.
  co_await lease.async_release(5s, asio::use_awaitable);
  co_await client.async_close(asio::use_awaitable);
  std::cout << "asked to end: released and closed\n";
}

int main() try {
  const example::Ensemble ensemble;
  asio::io_context context;
  zklock::Client client{context, ensemble.connect_string()};
  auto served = asio::co_spawn(context, serve(client), asio::use_future);
  context.run();  // ends by itself: context.stop() would cut the release off, and the next service would wait
  served.get();

  const zklock::Client next{ensemble.connect_string()};
  zklock::InterProcessMutex mutex{next, "/examples/service"};
  std::cout << "the next service has the lock at once: " << (mutex.try_lock() ? "yes" : "no") << '\n';
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
