// A leader in a coroutine: of several processes one works at a time, and its late writes are refused.
//
// Prints:
//   a leads
//   b leads
//   a's late write: refused
#include "support/ensemble.hpp"

#include <zklock/client.hpp>
#include <zklock/recipes/leader/lead_while.hpp>
#include <zklock/recipes/leader/leader_latch.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <iostream>
#include <string>

namespace asio = boost::asio;

constexpr const char* path = "/examples/leader";
constexpr const char* total = "/examples/total";

/// Leads once. What is added to guard() is written while it leads, or not at all.
asio::awaitable<zklock::Transaction> work(const zklock::Client& client, std::string id) {
  const zklock::LeaderLatch latch{client, path, id};
  zklock::Transaction late;
  auto body = [&](zklock::Leadership& leadership) -> asio::awaitable<void> {
    std::cout << id << " leads\n";
    co_await client.async_commit(leadership.guard().set_data(total, id), asio::use_awaitable);
    late = leadership.guard().set_data(total, "late");
  };
  co_await zklock::lead_while(latch, body);  // cancels the body if the leadership is lost, and resigns after it
  co_return late;
}

asio::awaitable<void> run(const zklock::Client& client) {
  co_await client.async_create(total, "", zklock::CreateOptions{}.creating_parents(), asio::use_awaitable);
  const zklock::Transaction late = co_await work(client, "a");
  co_await work(client, "b");
  const auto [error, results] = co_await client.async_commit(late, asio::as_tuple(asio::use_awaitable));
  std::cout << "a's late write: " << (error ? "refused" : "done") << '\n';
}

int main() try {
  const example::Ensemble ensemble;
  const zklock::Client client{{.connect_string = ensemble.connect_string()}};
  asio::io_context context;
  asio::co_spawn(context, run(client), asio::detached);
  context.run();
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
