// A coroutine that holds a lock while another one runs.
#pragma once

#include <zklock/recipes/lease.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <concepts>
#include <exception>
#include <functional>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace zklock {

namespace detail {

template <class T>
struct Awaited;
template <class T>
struct Awaited<asio::awaitable<T>> {
  using type = T;
};

/// What a lock's async_acquire gives: a Lease, or what is like one.
template <class Lock>
using LeaseOf = typename Awaited<decltype(std::declval<const Lock&>().async_acquire(asio::use_awaitable))>::type;

template <class Body, class Held>
auto run_body(Body& body, Held& lease) {
  if constexpr (std::invocable<Body&, Held&>) {
    return std::invoke(body, lease);
  } else {
    return std::invoke(body);
  }
}

template <class Body, class Held>
using BodyResult = typename Awaited<decltype(run_body(std::declval<Body&>(), std::declval<Held&>()))>::type;

struct Nothing {};

/// Body and operation are parameters, and so live in the coroutine's frame until it ends.
template <class Held, class Acquire, class Body, class T = BodyResult<Body, Held>>
asio::awaitable<T> hold_while(Acquire acquiring, Body body) {
  Held lease = co_await std::move(acquiring);
  std::exception_ptr thrown;
  std::conditional_t<std::is_void_v<T>, Nothing, std::optional<T>> value;
  try {
    auto running = run_body(body, lease);
    if constexpr (std::is_void_v<T>) {
      co_await std::move(running);
    } else {
      value.emplace(co_await std::move(running));
    }
  } catch (...) {
    thrown = std::current_exception();
  }
  error_code lost;
  if (lease.state() != LeaseState::released) {  // the body may have done it
    // The release is awaited also by a coroutine that is cancelled; and cancelled it remains.
    const bool throws = co_await asio::this_coro::throw_if_cancelled();
    co_await asio::this_coro::throw_if_cancelled(false);
    auto releasing = lease.async_release(asio::as_tuple(asio::deferred));
    std::tie(lost) = co_await std::move(releasing);
    co_await asio::this_coro::throw_if_cancelled(throws);
  }
  if (thrown) std::rethrow_exception(thrown);
  if (lost) throw boost::system::system_error{lost, "with_lease"};
  if constexpr (!std::is_void_v<T>) co_return std::move(*value);
}

}  // namespace detail

/// Acquires the lock, runs `body(lease)` or `body()`, which gives an asio::awaitable<T>, and awaits the release, on
/// every way out: return, exception, cancellation. Then hands on what the body has returned or thrown. Of any lock with
/// an async_acquire: InterProcessMutex, a half of an InterProcessReadWriteLock, InterProcessMultiLock.
///
///   const int left = co_await with_lease(mutex, 5s, [&](Lease& lease) { return sell(item, lease.fencing_token()); });
///
/// The body is kept until it has ended, so a lambda may be a coroutine itself. Inside a co_await expression it captures
/// by reference, or is named first (docs/contributing.md, compiler traps).
///
/// Completes     when the server has said that the lock is free, or the session is over, however often the link is lost
/// Errors        those of async_acquire, and the body's own; if that ended well Error::lock_lost, when the lock was
///               lost meanwhile and somebody else may have had it, and the other errors of async_release
/// Cancellation  of the coroutine that awaits it: ends the wait for the lock, or is the body's; the release goes on.
/// Threads       runs on the executor of the coroutine that awaits it.
template <class Lock, class Body>
[[nodiscard]] auto with_lease(const Lock& lock, Body body) {
  return detail::hold_while<detail::LeaseOf<Lock>>(lock.async_acquire(asio::deferred), std::move(body));
}

/// As above, waiting for the lock for at most `wait`: Error::timed_out, and the body is not run.
template <class Lock, class Rep, class Period, class Body>
[[nodiscard]] auto with_lease(const Lock& lock, std::chrono::duration<Rep, Period> wait, Body body) {
  return detail::hold_while<detail::LeaseOf<Lock>>(lock.async_acquire(wait, asio::deferred), std::move(body));
}

}  // namespace zklock
