// What the templates of asynchronous operations need in a header: the caller's handler is resolved, then erased.
#pragma once

#include <zklock/error.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/associator.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/system/system_error.hpp>

#include <type_traits>
#include <utility>

namespace zklock {

namespace asio = boost::asio;

namespace detail {

/// A handler of any kind. Boost 1.81 crashes when one is move-assigned: keep it in an optional and move-construct.
template <class... Results>
using Handler = asio::any_completion_handler<void(error_code, Results...)>;

struct Unassociated {};

template <class H>
inline constexpr bool brings_executor =
    !std::is_same_v<typename asio::associated_executor<std::decay_t<H>, Unassociated>::type, Unassociated>;

/// A handler and the executor that it is going to run on, whose work stays open until it has: an io_context whose only
/// business is to wait for a lock does not run dry. (Boost 1.81's bind_executor does not take a handler that is bound
/// already.)
template <class H, class Executor>
struct Anchored {
  H handler;
  Executor executor;

  template <class... Values>
  void operator()(Values&&... values) && {
    std::move(handler)(std::forward<Values>(values)...);
  }
};

/// Anchors the handler to its own executor, or to the fallback if it has none.
template <class H, class Fallback>
auto anchored(H&& handler, Fallback&& fallback) {
  namespace execution = asio::execution;
  if constexpr (brings_executor<H>) {
    auto executor = asio::prefer(asio::get_associated_executor(handler), execution::outstanding_work.tracked);
    return Anchored<std::decay_t<H>, decltype(executor)>{std::forward<H>(handler), std::move(executor)};
  } else {
    asio::any_io_executor executor =
        asio::prefer(asio::any_io_executor{fallback()}, execution::outstanding_work.tracked);
    return Anchored<std::decay_t<H>, asio::any_io_executor>{std::forward<H>(handler), std::move(executor)};
  }
}

/// The shim of every operation: `start(target, args..., handler)` runs with the handler anchored. Handle is a
/// shared_ptr, or like one, for which callback_executor(*target) names the executor of handlers that bring none, and
/// refuse_after_fork(*target) throws in a child process. Throws Error::invalid_state without a target (a moved-from
/// object).
template <class Signature, auto start, class Token, class Handle, class... Args>
auto initiate(Token&& token, Handle target, Args&&... args) {
  if (!target) throw boost::system::system_error{make_error_code(Error::invalid_state), "used after it was moved from"};
  refuse_after_fork(*target);
  return asio::async_initiate<Token, Signature>(
      [](auto handler, Handle held, auto... values) {
        auto& target_ref = *held;
        auto bound = anchored(std::move(handler), [&] { return callback_executor(target_ref); });
        start(std::move(held), std::move(values)..., std::move(bound));
      },
      token, std::move(target), std::forward<Args>(args)...);
}

}  // namespace detail
}  // namespace zklock

/// What else is associated with an anchored handler (allocator, cancellation slot) is what is associated with the
/// handler.
template <template <class, class> class Associator, class H, class Executor, class Default>
struct boost::asio::associator<Associator, zklock::detail::Anchored<H, Executor>, Default> : Associator<H, Default> {
  static typename Associator<H, Default>::type get(const zklock::detail::Anchored<H, Executor>& anchored) noexcept {
    return Associator<H, Default>::get(anchored.handler);
  }
  static auto get(const zklock::detail::Anchored<H, Executor>& anchored, const Default& otherwise) noexcept {
    return Associator<H, Default>::get(anchored.handler, otherwise);
  }
};

template <class H, class Executor, class Default>
struct boost::asio::associated_executor<zklock::detail::Anchored<H, Executor>, Default> {
  using type = Executor;
  static type get(const zklock::detail::Anchored<H, Executor>& anchored, const Default& = {}) noexcept {
    return anchored.executor;
  }
};
