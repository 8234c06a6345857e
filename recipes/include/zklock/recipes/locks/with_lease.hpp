// A coroutine that holds a lock while another one runs.
#pragma once

#include <zklock/recipes/locks/lease.hpp>

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
#include <type_traits>
#include <utility>

namespace zklock {

namespace detail {

template <class T>
struct ResultOfAwaiting;
template <class T>
struct ResultOfAwaiting<asio::awaitable<T>> {
  using type = T;
};

/// The result of a lock's async_acquire: a Lease, or a similar type.
template <class Lock>
using LeaseOf =
    typename ResultOfAwaiting<decltype(std::declval<const Lock&>().async_acquire(asio::use_awaitable))>::type;

template <class Body, class Held>
auto run_body(Body& body, Held& lease) {
  if constexpr (std::invocable<Body&, Held&>) {
    return std::invoke(body, lease);
  } else {
    return std::invoke(body);
  }
}

template <class Body, class Held>
using BodyResult = typename ResultOfAwaiting<decltype(run_body(std::declval<Body&>(), std::declval<Held&>()))>::type;

struct Nothing {};

/// Releases the lease and waits for that. If the coroutine is cancelled, or the time is up, the release goes on in the
/// background, and that is no error. Gives lock_lost, or the reason of the failure.
template <class Held>
asio::awaitable<error_code> give_back(Held& lease, std::chrono::milliseconds wait) {
  const bool was_lost = lease.state() == LeaseState::lost;
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  // An operation that begins after the cancellation is not cancelled by it.
  if (cancellation.cancelled() != asio::cancellation_type::none) wait = wait.zero();
  auto releasing = lease.async_release(wait, asio::as_tuple(asio::deferred));
  const auto [error] = co_await std::move(releasing);
  const bool goes_on = error == Error::timed_out || error == asio::error::operation_aborted;
  if (goes_on) co_return was_lost ? make_error_code(LockError::lock_lost) : error_code{};
  co_return error;
}

/// g++ 12 destroys a temporary lambda twice, without a warning, if it captures anything with a destructor by value and
/// is anywhere in a co_await expression. Code cannot distinguish it from other temporaries, nor from the result of
/// std::move().
template <class Body>
constexpr void refuse_what_is_destroyed_twice() {
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
  static_assert(std::is_lvalue_reference_v<Body> || std::is_trivially_destructible_v<std::remove_cvref_t<Body>>,
                "g++ 12 destroys such a temporary twice in a co_await expression: name the lambda, and pass it by its "
                "name, or by std::ref if it cannot be copied");
#endif
}

/// Body and operation are parameters, and so live in the coroutine's frame until it ends.
template <class Held, class Acquire, class Body, class T = BodyResult<Body, Held>>
asio::awaitable<T> hold_while(Acquire acquiring, std::chrono::milliseconds release_wait, Body body) {
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
  if (lease.state() != LeaseState::released) {  // the body may have released it
    // The body's result is passed on also if the coroutine is cancelled; the cancellation stays in effect.
    const bool throws = co_await asio::this_coro::throw_if_cancelled();
    co_await asio::this_coro::throw_if_cancelled(false);
    auto giving_back = give_back(lease, release_wait);
    lost = co_await std::move(giving_back);
    co_await asio::this_coro::throw_if_cancelled(throws);
  }
  if (thrown) std::rethrow_exception(thrown);
  if (lost) throw boost::system::system_error{lost, "with_lease"};
  if constexpr (!std::is_void_v<T>) co_return std::move(*value);
}

}  // namespace detail

/// How long with_lease waits. It has only trivial members, so it may be part of a co_await expression
/// (docs/contributing.md, compiler traps).
struct HoldOptions {
  /// The wait for the lock. max(): as long as it takes; zero or less: without waiting in the queue.
  std::chrono::milliseconds wait = std::chrono::milliseconds::max();
  /// The wait for the server's reply that the lock is free. max(): as long as it takes, at most until the session is
  /// over; zero or less: the release goes on in the background.
  std::chrono::milliseconds release_wait = std::chrono::milliseconds::max();
};

/// Acquires the lock, runs `body(lease)` or `body()`, which gives an asio::awaitable<T>, and awaits the release,
/// however the body ends, except by cancellation. Then passes on what the body has returned or thrown. It takes any
/// lock that has an async_acquire: InterProcessMutex, a half of an InterProcessReadWriteLock, InterProcessMultiLock.
///
///   const int left = co_await with_lease(mutex, 5s, [&](Lease& lease) { return sell(item, lease.fencing_token()); });
///
/// The body is kept until it has ended, so a lambda may be a coroutine itself. With g++ 12, a lambda that captures
/// anything with a destructor by value must be named first (docs/contributing.md, compiler traps); otherwise it does
/// not compile.
///
/// Completes     when the server has confirmed that the lock is free, or the session is over, however often the link is
///               lost
/// Errors        those of async_acquire, and the body's own; if the body succeeded, LockError::lock_lost, when the lock
///               was lost meanwhile and another client may have had it, and the other errors of async_release
/// Cancellation  of the coroutine that awaits it: ends the wait for the lock, or goes to the body, or ends the wait for
///               the release, which goes on in the background.
/// Threads       runs on the executor of the coroutine that awaits it.
template <class Lock, class Body>
[[nodiscard]] auto with_lease(const Lock& lock, Body&& body) {
  detail::refuse_what_is_destroyed_twice<Body>();
  return detail::hold_while<detail::LeaseOf<Lock>>(lock.async_acquire(asio::deferred), HoldOptions{}.release_wait,
                                                   std::decay_t<Body>(std::forward<Body>(body)));
}

/// As above, waiting for the lock for at most `wait`: then Error::timed_out, and the body is not run.
template <class Lock, class Rep, class Period, class Body>
[[nodiscard]] auto with_lease(const Lock& lock, std::chrono::duration<Rep, Period> wait, Body&& body) {
  detail::refuse_what_is_destroyed_twice<Body>();
  return detail::hold_while<detail::LeaseOf<Lock>>(lock.async_acquire(wait, asio::deferred), HoldOptions{}.release_wait,
                                                   std::decay_t<Body>(std::forward<Body>(body)));
}

/// As above, with limits for both waits. A release that is not done in time goes on in the background, and the body's
/// result is passed on.
///
///   co_await with_lease(mutex, HoldOptions{.wait = 2s, .release_wait = 500ms}, body);
template <class Lock, class Body>
[[nodiscard]] auto with_lease(const Lock& lock, HoldOptions options, Body&& body) {
  detail::refuse_what_is_destroyed_twice<Body>();
  return detail::hold_while<detail::LeaseOf<Lock>>(lock.async_acquire(options.wait, asio::deferred),
                                                   options.release_wait, std::decay_t<Body>(std::forward<Body>(body)));
}

}  // namespace zklock
