#include "permit_count.hpp"

#include "admission.hpp"
#include "contender.hpp"

#include <zklock/detail/steps.hpp>
#include <zklock/path.hpp>

namespace zklock {

namespace {

/// Success: it may be there now.
Awaitable<error_code> make_node(Session session, const PermitCount& count) {
  std::string data = format_count(count.number);
  NodeOptions options{CreateMode::persistent};
  auto [error, made] = co_await session.async_create(count.node, std::move(data), std::move(options), use_tuple);
  if (error == Error::no_node) {
    std::string parent{parent_path(count.node)};
    error = co_await create_containers(session, std::move(parent));
    if (error == Error::no_node) error = {};  // an ancestor went again: another round
  } else if (is_retryable(error)) {
    error = co_await pause_before_retry(session);
  }
  co_return error == Error::node_exists ? error_code{} : error;
}

}  // namespace

Awaitable<Result<std::int32_t>> read_count(Session session, const PermitCount& count) {
  if (!count.is_shared()) co_return count.number;
  for (int rounds_left = most_rounds;;) {
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

}  // namespace zklock
