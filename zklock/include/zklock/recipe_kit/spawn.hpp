// The bridge from a coroutine to a completion handler: deadline, cancellation, and one completion.
#pragma once

#include <zklock/detail/initiate.hpp>
#include <zklock/recipe_kit/use_tuple.hpp>
#include <zklock/timer.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/result.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace zklock {

template <class T>
using Result = boost::system::result<T>;
template <class T>
using Awaitable = asio::awaitable<T>;

namespace detail {

/// An operation whose body is a coroutine: what the caller's cancellation slot, the deadline and the body share. On the
/// serial executor.
struct SpawnedOperation {
  SpawnedOperation() = default;
  SpawnedOperation(const SpawnedOperation&) = delete;
  SpawnedOperation& operator=(const SpawnedOperation&) = delete;
  virtual ~SpawnedOperation() = default;
  /// Passes the result on, or the error if there is one.
  virtual void complete(error_code error) = 0;

  asio::cancellation_signal signal;
  bool cancelled = false;
  bool overdue = false;
  std::optional<Timer> timer;
};

template <class T>
struct SpawnedFor : SpawnedOperation {
  std::optional<T> result;
};

template <class Finish>
struct SpawnedWithoutResult final : SpawnedOperation {
  explicit SpawnedWithoutResult(Finish to_call) : finish{std::move(to_call)} {}
  void complete(error_code error) override { finish(error); }

  Finish finish;
};

template <class T, class Finish>
struct SpawnedOf final : SpawnedFor<T> {
  explicit SpawnedOf(Finish to_call) : finish{std::move(to_call)} {}
  void complete(error_code error) override { finish(error, error ? T{} : std::move(*this->result)); }

  Finish finish;
};

/// Runs the body, which leaves its result in the operation, on `serial`. The deadline, and the caller by `slot`, cancel
/// it.
void run_operation(std::shared_ptr<SpawnedOperation> operation, const asio::any_io_executor& serial, Deadline deadline,
                   asio::cancellation_slot slot, Awaitable<error_code> body, Error at_deadline);

template <class T>
Awaitable<error_code> leave_result(Awaitable<Result<T>> body, std::shared_ptr<SpawnedFor<T>> operation) {
  Result<T> result = co_await std::move(body);
  if (!result) co_return result.error();
  operation->result.emplace(std::move(*result));
  co_return error_code{};
}

/// The error to report for what a coroutine has thrown: errc::state_not_recoverable for an exception without one.
[[nodiscard]] error_code code_of(const std::exception_ptr& thrown);

/// Runs `body` on `serial` and calls `finish(error, T)` there. The deadline and `slot` cancel the body.
template <class T, class Finish>
void spawn_with_slot(const asio::any_io_executor& serial, Deadline deadline, asio::cancellation_slot slot,
                     Awaitable<Result<T>> body, Finish finish, Error at_deadline = Error::timed_out) {
  auto operation = std::make_shared<SpawnedOf<T, Finish>>(std::move(finish));
  auto whole = leave_result<T>(std::move(body), operation);
  run_operation(std::move(operation), serial, deadline, slot, std::move(whole), at_deadline);
}

}  // namespace detail

/// Runs `body` on `serial` and passes its result to `handler`. The deadline and the handler's cancellation slot cancel
/// the body. A body cancelled by the deadline gives Error::timed_out, or `at_deadline`. `keep_alive` exists until the
/// handler has been called.
template <class T, class Keep>
void spawn_operation(const asio::any_io_executor& serial, Deadline deadline, detail::Handler<T> handler,
                     Awaitable<Result<T>> body, Keep keep_alive, Error at_deadline = Error::timed_out) {
  const auto slot = asio::get_associated_cancellation_slot(handler);
  auto finish = [handler = std::move(handler), keep_alive = std::move(keep_alive)](error_code error, T result) mutable {
    std::move(handler)(error, std::move(result));
  };
  detail::spawn_with_slot(serial, deadline, slot, std::move(body), std::move(finish), at_deadline);
}

/// The same for a body that has no result but its error.
template <class Keep>
void spawn_operation(const asio::any_io_executor& serial, Deadline deadline, detail::Handler<> handler,
                     Awaitable<error_code> body, Keep keep_alive, Error at_deadline = Error::timed_out) {
  const auto slot = asio::get_associated_cancellation_slot(handler);
  auto finish = [handler = std::move(handler), keep_alive = std::move(keep_alive)](error_code error) mutable {
    std::move(handler)(error);
  };
  auto operation = std::make_shared<detail::SpawnedWithoutResult<decltype(finish)>>(std::move(finish));
  detail::run_operation(std::move(operation), serial, deadline, slot, std::move(body), at_deadline);
}

/// Runs `body` on `serial` and calls `end` there with its error. `slot` cancels the body.
void spawn_background(const asio::any_io_executor& serial, Awaitable<error_code> body,
                      std::function<void(error_code)> end, asio::cancellation_slot slot = {});

/// Runs `body` on `serial`; nothing waits for it. `slot` cancels it.
void spawn_detached(const asio::any_io_executor& serial, Awaitable<void> body, asio::cancellation_slot slot = {});

}  // namespace zklock
