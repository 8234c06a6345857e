// A blocking twin of an operation that has no deadline of its own.
#pragma once

#include "limits.hpp"

#include <zklock/client.hpp>
#include <zklock/detail/blocking.hpp>

#include <boost/system/system_error.hpp>

#include <string>
#include <utility>

namespace zklock::detail {

/// Blocks until `operation`, which is called with a completion token, has given its result, however long that takes the
/// client's executor. Throws boost::system::system_error, about `what`: its error; Error::would_deadlock where the
/// client's own work would have to wait for this call.
template <class Result, class Operation>
Result call_blocking(const ClientHandle& client, const std::string& what, Operation&& operation) {
  const auto fail = [&](error_code error) { throw boost::system::system_error{error, explain(what, error, client)}; };
  if (client.blocking_would_deadlock()) fail(make_error_code(Error::would_deadlock));
  auto outcome = block_on<Result>(client.get_executor(), std::forward<Operation>(operation));
  if (outcome.error) fail(outcome.error);
  return std::move(*outcome.value);
}

}  // namespace zklock::detail
