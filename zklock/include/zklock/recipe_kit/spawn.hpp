// The bridge from a coroutine to a completion handler: deadline, cancellation, and one completion.
#pragma once

#include <zklock/detail/initiate.hpp>
#include <zklock/timer.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/result.hpp>
#include <boost/system/system_error.hpp>

#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <utility>

namespace zklock {

template <class T>
using Result = boost::system::result<T>;
template <class T>
using Awaitable = asio::awaitable<T>;

/// A completion token: awaiting with it gives the error_code first, and throws nothing.
inline constexpr auto use_tuple = asio::as_tuple(asio::deferred);

namespace detail {

/// Connects the caller's cancellation slot, the deadline and the coroutine. On the serial executor.
struct CancellationBridge {
  asio::cancellation_signal signal;
  bool cancelled = false;
  bool overdue = false;
  std::optional<Timer> timer;
};

template <class T>
void follow_cancellation(const asio::any_io_executor& serial, Handler<T>& handler,
                         const std::shared_ptr<CancellationBridge>& bridge) {
  if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected())
    slot.assign([serial, weak = std::weak_ptr{bridge}](asio::cancellation_type type) {
      if (type == asio::cancellation_type::none) return;
      asio::post(serial, [weak] {  // runs after the start, which may still be queued
        const auto self = weak.lock();
        if (!self) return;
        self->cancelled = !self->overdue;
        self->signal.emit(asio::cancellation_type::terminal);
      });
    });
}

inline void follow_clock(const asio::any_io_executor& serial, const std::shared_ptr<CancellationBridge>& bridge,
                         Deadline deadline) {
  if (!deadline) return;
  bridge->timer.emplace(serial, *deadline);
  bridge->timer->async_wait([weak = std::weak_ptr{bridge}](error_code error) {
    const auto self = weak.lock();
    if (!self || error) return;
    self->overdue = true;
    self->signal.emit(asio::cancellation_type::terminal);
  });
}

/// The error to report for a body that has ended with `error`. A wait for a connection that is cut short ends with
/// not_connected (see RetryLoop). That is the right error at a deadline, but not for a caller who cancelled.
inline error_code outcome_of_body(const CancellationBridge& bridge, error_code error, Error at_deadline) {
  if (bridge.overdue && error == asio::error::operation_aborted) return make_error_code(at_deadline);
  if (bridge.cancelled && error == Error::not_connected) return asio::error::operation_aborted;
  return error;
}

inline error_code code_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const boost::system::system_error& error) {
    return error.code();
  } catch (const std::bad_alloc&) {
    return boost::system::errc::make_error_code(boost::system::errc::not_enough_memory);
  }
}

}  // namespace detail

/// Runs `body` on `serial` and passes its result to `handler`. The deadline and the handler's cancellation slot cancel
/// the body. A body cancelled by the deadline gives Error::timed_out, or `at_deadline`. `keep_alive` exists until the
/// handler has been called.
template <class T, class Keep>
void spawn_operation(const asio::any_io_executor& serial, Deadline deadline, detail::Handler<T> handler,
                     Awaitable<Result<T>> body, Keep keep_alive, Error at_deadline = Error::timed_out) {
  auto bridge = std::make_shared<detail::CancellationBridge>();
  detail::follow_cancellation(serial, handler, bridge);
  asio::dispatch(serial, [serial, deadline, bridge, at_deadline, handler = std::move(handler), body = std::move(body),
                          keep_alive = std::move(keep_alive)]() mutable {
    detail::follow_clock(serial, bridge, deadline);
    const auto slot = bridge->signal.slot();
    auto finish = [handler = std::move(handler), bridge = std::move(bridge), keep_alive = std::move(keep_alive),
                   at_deadline](std::exception_ptr thrown, Result<T> result) mutable {
      error_code error = thrown ? detail::code_of(thrown) : result ? error_code{} : result.error();
      error = detail::outcome_of_body(*bridge, error, at_deadline);
      bridge.reset();
      std::move(handler)(error, error ? T{} : std::move(*result));
    };
    asio::co_spawn(serial, std::move(body),
                   asio::bind_executor(serial, asio::bind_cancellation_slot(slot, std::move(finish))));
  });
}

/// Runs `body` on `serial` to its end; nothing waits for it.
inline void spawn_detached(const asio::any_io_executor& serial, Awaitable<void> body) {
  asio::co_spawn(serial, std::move(body), [](const std::exception_ptr&) {});
}

}  // namespace zklock
