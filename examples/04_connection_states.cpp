// The states of the connection, and of a lock, when the server goes down and comes back.
//
// Prints, one a line: connecting, connected, suspended, reconnected, closed; and what each means for the lock.
#include <zklock/client.hpp>
#include <zklock/recipes/locks/inter_process_mutex.hpp>
#include <zklock/testing/test_server.hpp>

#include <boost/asio/use_future.hpp>

#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;
using zklock::ConnectionState;

namespace {

void await(zklock::StateStream& states, ConnectionState wanted) {
  for (;;) {
    const ConnectionState state = states.async_next(asio::use_future).get();
    std::cout << to_string(state) << std::endl;
    if (state == wanted) return;
  }
}

}  // namespace

int main() try {
  zklock::testing::TestServer server;  // the example's own, so that it can be stopped
  zklock::Client client{{.connect_string = server.connect_string(), .session_timeout = 10s}};
  zklock::StateStream states = client.states();  // the first state is the current one
  await(states, ConnectionState::connected);

  const zklock::InterProcessMutex mutex{client, "/examples/states"};
  const zklock::Lease lease = mutex.async_acquire(5s, asio::use_future).get();
  std::cout << "  the lock is " << to_string(lease.state()) << '\n';

  server.stop();
  await(states, ConnectionState::suspended);
  std::cout << "  the lock is " << to_string(lease.state()) << ": do nothing that needs it\n";

  server.start();  // well within the session timeout: the session lives on, and the lock with it
  await(states, ConnectionState::reconnected);
  std::cout << "  the lock is " << to_string(lease.state()) << " again\n";

  client.close();
  await(states, ConnectionState::closed);
  std::cout << "  the lock is " << to_string(lease.state()) << '\n';
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
