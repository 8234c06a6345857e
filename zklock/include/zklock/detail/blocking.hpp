// The blocking twins of asynchronous operations.
#pragma once

#include <zklock/error.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/system/system_error.hpp>

#include <optional>
#include <semaphore>
#include <utility>

namespace zklock::detail {

template <class... Result>
struct Outcome;

template <>
struct Outcome<> {
  error_code error;
};

template <class Result>
struct Outcome<Result> {
  error_code error;
  std::optional<Result> value;
};

/// Starts an operation whose handler runs on `executor`, and blocks until it has. `operation` is called with a
/// completion token.
template <class... Result, class Executor, class Operation>
Outcome<Result...> block_on(const Executor& executor, Operation&& operation) {
  std::binary_semaphore done{0};
  Outcome<Result...> outcome;
  std::forward<Operation>(operation)(boost::asio::bind_executor(executor, [&](error_code error, Result... result) {
    outcome.error = error;
    ((outcome.value.emplace(std::move(result))), ...);
    done.release();
  }));
  done.acquire();
  return outcome;
}

}  // namespace zklock::detail
