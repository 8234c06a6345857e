#include "blocking_call.hpp"
#include "count_data.hpp"

#include <zklock/path.hpp>
#include <zklock/recipes/shared/shared_count.hpp>
#include <zklock/recipes/shared/shared_value.hpp>

namespace zklock {

namespace detail {

std::string CountCodec::encode(const Value& value) { return format_count(value); }

std::optional<std::int32_t> CountCodec::decode(const std::string& data, const Value& seed) {
  return data.empty() ? seed : parse_count(data);
}

}  // namespace detail

using detail::Expected;
using detail::Handler;
using detail::RawExchange;
using detail::SharedValuePtr;

namespace {

/// A node that another client has just created, or deleted again, is another round.
Awaitable<Result<CreateResult>> create_value(SharedValuePtr shared, std::string data) {
  CreateOptions options{CreateMode::persistent};
  options.creating_parent_containers().idempotent();
  auto [error, made] =
      co_await shared->client().async_create(shared->path(), std::move(data), std::move(options), use_tuple);
  if (error) co_return error;
  co_return std::move(made);
}

Awaitable<Result<DataResult>> get_value(SharedValuePtr shared) {
  for (int rounds_left = max_rounds;; --rounds_left) {
    auto [error, read] = co_await shared->client().async_get_data(shared->path(), use_tuple);
    if (!error) co_return std::move(read);
    if (error != Error::no_node || rounds_left == 0) co_return error;
    auto made = co_await create_value(shared, shared->seed());
    if (made) co_return DataResult{shared->seed(), made->stat};
    if (made.error() != Error::node_exists) co_return made.error();
  }
}

Awaitable<Result<Stat>> set_value(SharedValuePtr shared, std::string data) {
  for (int rounds_left = max_rounds;; --rounds_left) {
    auto [error, stat] = co_await shared->client().async_set_data(shared->path(), data, use_tuple);
    if (!error) co_return stat;
    if (error != Error::no_node || rounds_left == 0) co_return error;
    auto made = co_await create_value(shared, data);
    if (made) co_return made->stat;
    if (made.error() != Error::node_exists) co_return made.error();
  }
}

Awaitable<Result<RawExchange>> exchange_value(SharedValuePtr shared, Expected expected, std::string data) {
  if (expected.version < 0) co_return make_error_code(Error::bad_arguments);
  const auto is_another = [&](const Stat& stat) { return expected.czxid != 0 && stat.czxid != expected.czxid; };
  const SetDataOptions options{expected.version};  // not idempotent: another client may have written the same value
  auto [error, stat] = co_await shared->client().async_set_data(shared->path(), data, options, use_tuple);
  if (!error) co_return RawExchange{true, is_another(stat), DataResult{std::move(data), stat}};
  if (error == Error::no_node) co_return RawExchange{};
  if (error != Error::bad_version) co_return error;
  auto [unread, read] = co_await shared->client().async_get_data(shared->path(), use_tuple);
  if (unread == Error::no_node) co_return RawExchange{};
  if (unread) co_return unread;
  const bool is_another_node = is_another(read.stat);
  co_return RawExchange{false, is_another_node, std::move(read)};
}

template <class T>
void spawn_on(const SharedValuePtr& shared, Handler<T> handler, Awaitable<Result<T>> body) {
  spawn_operation(shared->client().get_executor(), Deadline{}, std::move(handler), std::move(body), shared);
}

}  // namespace

namespace detail {

SharedValuePtr make_shared_value(const ClientHandle& client, std::string path, std::string seed) {
  validate_path(path);
  return std::make_shared<SharedValueCore>(client, std::move(path), std::move(seed));
}

void start_get_shared_value(SharedValuePtr shared, Handler<DataResult> handler) {
  spawn_on(shared, std::move(handler), get_value(shared));
}

void start_set_shared_value(SharedValuePtr shared, std::string data, Handler<Stat> handler) {
  spawn_on(shared, std::move(handler), set_value(shared, std::move(data)));
}

void start_compare_and_set_shared_value(SharedValuePtr shared, Expected expected, std::string data,
                                        Handler<RawExchange> handler) {
  spawn_on(shared, std::move(handler), exchange_value(shared, expected, std::move(data)));
}

DataResult get_shared_value(const SharedValuePtr& shared) {
  refuse_after_fork(existing(shared));
  return call_blocking<DataResult>(shared->client(), shared->path(),
                                   [&](auto handler) { start_get_shared_value(shared, std::move(handler)); });
}

Stat set_shared_value(const SharedValuePtr& shared, std::string data) {
  refuse_after_fork(existing(shared));
  return call_blocking<Stat>(shared->client(), shared->path(), [&](auto handler) {
    start_set_shared_value(shared, std::move(data), std::move(handler));
  });
}

RawExchange compare_and_set_shared_value(const SharedValuePtr& shared, Expected expected, std::string data) {
  refuse_after_fork(existing(shared));
  return call_blocking<RawExchange>(shared->client(), shared->path(), [&](auto handler) {
    start_compare_and_set_shared_value(shared, expected, std::move(data), std::move(handler));
  });
}

}  // namespace detail
}  // namespace zklock
