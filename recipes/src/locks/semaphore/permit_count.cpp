#include "permit_count.hpp"

#include "count_data.hpp"
#include "limits.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/session_ops.hpp>

namespace zklock {

namespace {

/// Success: the node may exist now.
Awaitable<error_code> make_node(Session session, const PermitCount& count) {
  std::string data = format_count(count.number);
  NodeOptions options{CreateMode::persistent};
  auto [error, made] = co_await session.async_create(count.node, std::move(data), std::move(options), use_tuple);
  if (error == Error::no_node) {
    std::string parent{parent_path(count.node)};
    error = co_await create_containers(session, std::move(parent));
    if (error == Error::no_node) error = {};  // an ancestor was deleted again: another round
  } else if (is_retryable(error)) {
    error = co_await pause_before_retry(session);
  }
  co_return error == Error::node_exists ? error_code{} : error;
}

/// node_exists: another client was faster.
Awaitable<error_code> make_node(ClientHandle client, const PermitCount& count, std::int32_t number) {
  CreateOptions options{CreateMode::persistent};
  options.creating_parent_containers();
  std::string data = format_count(number);
  auto [error, made] = co_await client.async_create(count.node, std::move(data), std::move(options), use_tuple);
  co_return error;
}

}  // namespace

Awaitable<Result<std::int32_t>> read_count(Session session, const PermitCount& count) {
  if (!count.is_shared()) co_return count.number;
  for (int rounds_left = max_rounds;;) {
    auto [error, read] = co_await session.async_get_data(count.node, use_tuple);
    if (!error) {
      const auto number = parse_count(read.data);
      if (!number) co_return make_error_code(Error::invalid_data);
      co_return *number;
    }
    if (error == Error::no_node && --rounds_left > 0)
      error = co_await make_node(session, count);
    else if (is_retryable(error))
      error = co_await pause_before_retry(session);
    if (error) co_return error;
  }
}

Awaitable<Result<PermitNumber>> read_permits(ClientHandle client, const PermitCount& count) {
  if (!count.is_shared()) co_return PermitNumber{count.number, any_version};
  for (;;) {
    auto [error, read] = co_await client.async_get_data(count.node, use_tuple);
    if (!error) {
      const auto number = parse_count(read.data);
      if (!number) co_return make_error_code(Error::invalid_data);
      co_return PermitNumber{*number, read.stat.version};
    }
    if (error == Error::no_node) error = co_await make_node(client, count, count.number);
    if (error && error != Error::node_exists) co_return error;
  }
}

Awaitable<Result<PermitNumber>> write_permits(ClientHandle client, const PermitCount& count, PermitNumber permits) {
  if (permits.number < 0) co_return make_error_code(LockError::invalid_permits);
  if (!count.is_shared()) co_return make_error_code(LockError::invalid_permits);
  const bool is_any = permits.version == any_version;
  SetDataOptions options{permits.version};
  if (!is_any) options.idempotent();
  for (;;) {
    const std::string data = format_count(permits.number);
    auto [error, stat] = co_await client.async_set_data(count.node, data, options, use_tuple);
    if (!error) co_return PermitNumber{permits.number, stat.version};
    if (error != Error::no_node || !is_any) co_return error;
    error = co_await make_node(client, count, permits.number);
    if (!error) co_return PermitNumber{permits.number, 0};
    if (error != Error::node_exists) co_return error;
  }
}

}  // namespace zklock
