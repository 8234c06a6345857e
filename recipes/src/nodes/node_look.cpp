#include "node_look.hpp"

#include <zklock/recipe_kit/async_event.hpp>

#include <memory>
#include <utility>

namespace zklock {

namespace {

/// The outcome of a request that another one follows in the same flight.
struct Outcomes {
  explicit Outcomes(const Session& session) : came{session.get_executor()} {}
  std::optional<error_code> outcome;
  AsyncEvent came;
};

/// A handler that notes the outcome.
auto note(const Session& session, const std::shared_ptr<Outcomes>& outcome) {
  return asio::bind_executor(session.get_executor(), [outcome](error_code error, auto&&...) {
    if (!outcome->outcome) outcome->outcome = error;
    outcome->came.happen();
  });
}

/// Looks, and waits for the reply of the request ahead, which is there by then unless the link broke.
Awaitable<NodeFlight> look_behind(Session session, std::string path, LookBy by, std::shared_ptr<Outcomes> write) {
  NodeFlight flight;
  flight.look = co_await look_at(session, std::move(path), by);
  while (!write->outcome) co_await write->came.wait();
  flight.written = *write->outcome;
  co_return flight;
}

Transaction replacement(std::string path, std::int32_t version, std::string data, const NodeOptions& options) {
  Transaction transaction;
  transaction.remove(path, version);
  if (options.acl)
    transaction.create(std::move(path), std::move(data), options.mode, *options.acl);
  else
    transaction.create(std::move(path), std::move(data), options.mode);
  return transaction;
}

}  // namespace

Awaitable<NodeLook> look_at(Session session, std::string path, LookBy by) {
  NodeLook look;
  if (by == LookBy::children) {
    auto [error, children, watch] = co_await session.async_get_children_and_watch(path, use_tuple);
    look.error = error;
    if (!error) look.stat = children.stat;
    look.watch = std::move(watch);
  } else {
    auto [error, read, watch] = co_await session.async_get_data_and_watch(path, use_tuple);
    look.error = error;
    if (!error) {
      look.stat = read.stat;
      look.data = std::move(read.data);
    }
    look.watch = std::move(watch);
  }
  if (look.error == Error::no_node) look.error = {};
  co_return look;
}

Awaitable<NodeFlight> create_and_look(Session session, std::string path, std::string data, NodeOptions options,
                                      LookBy by) {
  auto write = std::make_shared<Outcomes>(session);
  session.async_create(path, std::move(data), std::move(options), note(session, write));
  co_return co_await look_behind(session, std::move(path), by, std::move(write));
}

Awaitable<NodeFlight> replace_and_look(Session session, std::string path, std::int32_t version, std::string data,
                                       NodeOptions options, LookBy by) {
  auto write = std::make_shared<Outcomes>(session);
  if (has_ttl(options.mode)) {
    session.async_remove(path, version, note(session, write));
    auto created = std::make_shared<Outcomes>(session);
    session.async_create(path, std::move(data), std::move(options), note(session, created));
  } else {
    session.async_commit(replacement(path, version, std::move(data), options), note(session, write));
  }
  co_return co_await look_behind(session, std::move(path), by, std::move(write));
}

}  // namespace zklock
