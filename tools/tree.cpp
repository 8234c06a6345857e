#include "tree.hpp"

#include "await.hpp"
#include "connection.hpp"
#include "failure.hpp"
#include "signals.hpp"

#include <zklock/path.hpp>
#include <zklock/recipes/caches/curator_cache.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>
#include <iostream>
#include <utility>
#include <variant>

namespace zklock::tools {
namespace {

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

CacheOptions below(bool recursive) { return recursive ? CacheOptions{} : CacheOptions{}.depth(1); }

/// Why it ended. A coroutine in `a || b` must not throw: the other one would go on alone.
asio::awaitable<std::exception_ptr> caught(asio::awaitable<void> body) {
  try {
    co_await std::move(body);
  } catch (...) {
    co_return std::current_exception();
  }
  co_return nullptr;
}

asio::awaitable<void> print_events(const Client& client, const Connection& connection, const WatchOptions& options) {
  const auto [away, session] = co_await client.async_session(after(connect_limit), use_tuple);
  if (away) throw connection.unreachable(client);
  const CuratorCache cache{client, options.path, below(options.recursive)};
  for (CacheEvents events = cache.events(); std::cout;) {
    const auto [error, event] = co_await events.async_next(use_tuple);
    if (error) throw boost::system::system_error{error, options.path};
    std::cout << (options.json ? event_to_json(event, std::chrono::system_clock::now()) : event_to_text(event))
              << std::flush;
  }
}

asio::awaitable<void> until_signal(Signals& signals) { static_cast<void>(co_await signals.next()); }

asio::awaitable<void> watch_until_signal(const Client& client, const Connection& connection,
                                         const WatchOptions& options, Signals& signals) {
  const auto first = co_await (caught(print_events(client, connection, options)) || until_signal(signals));
  if (const auto* thrown = std::get_if<std::exception_ptr>(&first); thrown && *thrown) std::rethrow_exception(*thrown);
}

std::string show(const Client& client, const TreeOptions& options) {
  const CuratorCache cache{client, options.path};
  if (!cache.wait_initialized(60s)) throw Failure{status::unavailable, "reading " + options.path + " takes too long"};
  const auto nodes = cache.snapshot();
  if (nodes->empty()) throw Failure{status::found, "there is no node " + options.path};
  return options.json ? tree_to_json(*nodes) : tree_to_table(*nodes, options.path);
}

}  // namespace

int tree(const TreeOptions& options) {
  validate_path(options.path);
  const Connection connection{options.where};
  const std::string text = connection.with_client([&](const Client& client) {
    if (!client.wait_connected(connect_limit)) throw connection.unreachable(client);
    return show(client, options);
  });
  std::cout << text << std::flush;
  return std::cout ? 0 : status::found;
}

int watch(const WatchOptions& options) {
  validate_path(options.path);
  asio::io_context context{1};
  Signals signals{context.get_executor(), {SIGINT, SIGTERM, SIGHUP}};
  const Connection connection{options.where};
  const Client client{connection.config(10s)};
  std::exception_ptr thrown;
  asio::co_spawn(context, watch_until_signal(client, connection, options, signals),
                 [&](std::exception_ptr error) { thrown = std::move(error); });
  context.run();
  if (thrown) std::rethrow_exception(thrown);
  return std::cout ? 0 : status::found;
}

}  // namespace zklock::tools
