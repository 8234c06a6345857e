// A lock in a coroutine: a Lease holds it, and its fencing token protects what the lock protects.
//
// Prints:
//   bob: wrote after alice
//   alice: her late write is refused
#include "support/ensemble.hpp"

#include <zklock/client.hpp>
#include <zklock/recipes/locks/inter_process_mutex.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <iostream>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// The resource that the lock protects. It must check the token itself: a holder that was asleep while another client
/// got the lock still believes that it holds it.
class Store {
 public:
  [[nodiscard]] bool write(std::int64_t token) {
    if (token < highest_token_) return false;
    highest_token_ = token;
    return true;
  }

 private:
  std::int64_t highest_token_ = 0;
};

asio::awaitable<bool> work(const zklock::InterProcessMutex& mutex, Store& store) {
  zklock::Lease alice = co_await mutex.async_acquire(5s, asio::use_awaitable);
  const std::int64_t alices_token = alice.fencing_token();
  co_await alice.async_release(asio::use_awaitable);  // ~Lease does it, too, but does not wait for the server's reply

  const zklock::Lease bob = co_await mutex.async_acquire(5s, asio::use_awaitable);
  if (bob.is_held() && store.write(bob.fencing_token())) std::cout << "bob: wrote after alice\n";
  const bool refused = !store.write(alices_token);
  if (refused) std::cout << "alice: her late write is refused\n";
  co_return refused;
}

int main() try {
  const example::Ensemble ensemble;
  const zklock::Client client{{.connect_string = ensemble.connect_string()}};
  const zklock::InterProcessMutex mutex{client, "/examples/store"};
  Store store;
  asio::io_context context;
  auto done = asio::co_spawn(context, work(mutex, store), asio::use_future);
  context.run();
  return done.get() ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
