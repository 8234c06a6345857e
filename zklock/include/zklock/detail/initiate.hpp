// The templates of asynchronous operations: they resolve the caller's handler and then erase its type.
#pragma once

#include <zklock/detail/existing.hpp>
#include <zklock/detail/handler.hpp>
#include <zklock/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/associator.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/system/system_error.hpp>

#include <concepts>
#include <exception>
#include <type_traits>
#include <utility>

namespace zklock {

namespace asio = boost::asio;

class Runtime;

namespace detail {

/// A Client's threads and executors. Only the core knows the class.
asio::any_io_executor serial_executor(const Runtime& runtime);
asio::any_io_executor callback_executor(const Runtime& runtime);
void refuse_after_fork(const Runtime& runtime);

/// The client, or the session, of an operation's target: a class with client(), such as each that is derived from
/// RecipeCore. A target whose class only its own source file knows declares an overload.
template <class Target>
requires requires(const Target& target) { target.client(); }
decltype(auto) home_of(const Target& target) { return target.client(); }

/// The executor of the client's I/O.
template <class Target>
asio::any_io_executor serial_executor(const Target& target) {
  decltype(auto) home = home_of(target);
  if constexpr (std::is_same_v<decltype(home), Runtime&>) {
    return serial_executor(std::as_const(home));
  } else {
    return home.get_executor();
  }
}

/// The executor of handlers that bring none.
template <class Target>
asio::any_io_executor callback_executor(const Target& target) {
  decltype(auto) home = home_of(target);
  if constexpr (std::is_same_v<decltype(home), Runtime&>) {
    return callback_executor(std::as_const(home));
  } else {
    return home.callback_executor();
  }
}

/// Throws Error::used_after_fork in a child process.
template <class Target>
void refuse_after_fork(const Target& target) {
  decltype(auto) home = home_of(target);
  if constexpr (std::is_same_v<decltype(home), Runtime&>) {
    refuse_after_fork(std::as_const(home));
  } else if (home.in_forked_child()) {
    throw boost::system::system_error{make_error_code(Error::used_after_fork), "in the child process"};
  }
}

struct Unassociated {};

template <class H>
using ExecutorOf = typename asio::associated_executor<std::decay_t<H>, Unassociated>::type;

template <class Executor>
concept Postable = requires(const Executor& executor) {
  asio::require(executor, asio::execution::blocking.never);
};

/// An executor that knows its threads, and so has some. That is not so for the system_executor (that of use_future),
/// nor for a user's executor that has only execute().
template <class Executor>
concept Inhabited = Postable<Executor> && std::convertible_to<Executor, asio::any_io_executor> &&
    requires(const Executor& executor) {
  executor.running_in_this_thread();
};

/// A handler whose own executor may do anything. It goes there from the callback executor.
template <class H>
struct DetouredHandler {
  H handler;

  template <class... Values>
  void operator()(Values... values) && {
    asio::dispatch(asio::append(std::move(handler), std::move(values)...));
  }
};

/// The route to an executor of the caller's. User code does not run inside the serial executor, where it would hold up
/// the heartbeats, unless the handler is bound to that executor explicitly.
template <class Target>
Route route_to(const asio::any_io_executor& executor, const Target& target) {
  if (executor.target<asio::system_executor>()) return post_to(callback_executor(target));
  if (executor == serial_executor(target)) return {};
  return post_to(executor);
}

/// The handler bound to its own executor, or to the target's callback executor.
template <class... Results, class H, class Target>
Handler<Results...> bound(H&& handler, const Target& target) {
  using Plain = std::decay_t<H>;
  using Executor = ExecutorOf<Plain>;
  if constexpr (std::is_same_v<Executor, Unassociated>) {
    return {Plain(std::forward<H>(handler)), post_to(callback_executor(target))};
  } else if constexpr (std::is_same_v<Executor, asio::any_io_executor>) {
    Route route = route_to(asio::get_associated_executor(handler), target);
    return {Plain(std::forward<H>(handler)), std::move(route)};
  } else if constexpr (Inhabited<Executor>) {
    Route route = post_to(asio::get_associated_executor(handler));
    return {Plain(std::forward<H>(handler)), std::move(route)};
  } else {
    return {DetouredHandler<Plain>{std::forward<H>(handler)}, post_to(callback_executor(target))};
  }
}

/// The initiation of every operation: it calls `start(target, args..., handler)` with a bound Handler. Handle is a
/// shared_ptr or similar. callback_executor(*target) is the operation's own executor as Asio sees it.
template <class Signature, auto start, class Handle>
class Initiation;

template <class... Results, auto start, class Handle>
class Initiation<void(error_code, Results...), start, Handle> {
 public:
  using executor_type = asio::any_io_executor;

  explicit Initiation(Handle target) : target_{std::move(target)} {}

  /// Asio requires that this does not throw. If no thread can be started for callbacks, it returns the I/O executor:
  /// Asio's adapters do only short work there, and a handler that needs that thread is refused when the operation
  /// begins.
  [[nodiscard]] executor_type get_executor() const noexcept {
    try {
      return callback_executor(*target_);
    } catch (const std::exception&) {
      return serial_executor(*target_);
    }
  }

  template <class H, class... Args>
  void operator()(H&& handler, Args&&... args) && {
    Handler<Results...> bound_handler = bound<Results...>(std::forward<H>(handler), *target_);
    start(std::move(target_), std::forward<Args>(args)..., std::move(bound_handler));
  }
  template <class H, class... Args>
  void operator()(H&& handler, Args&&... args) const& {
    Initiation{*this}(std::forward<H>(handler), std::forward<Args>(args)...);
  }

 private:
  Handle target_;
};

/// Starts an operation. Throws Error::used_after_fork in a child process, and Error::empty_object if there is no target
/// (the object is empty or was moved from).
template <class Signature, auto start, class Token, class Handle, class... Args>
auto initiate(Token&& token, Handle target, Args&&... args) {
  refuse_after_fork(existing(target));
  return asio::async_initiate<Token, Signature>(Initiation<Signature, start, Handle>{std::move(target)}, token,
                                                std::forward<Args>(args)...);
}

}  // namespace detail
}  // namespace zklock

/// A DetouredHandler has the allocator and the cancellation slot of the handler that it wraps.
template <template <class, class> class Associator, class H, class Default>
struct boost::asio::associator<Associator, zklock::detail::DetouredHandler<H>, Default> : Associator<H, Default> {
  static typename Associator<H, Default>::type get(const zklock::detail::DetouredHandler<H>& detoured) noexcept {
    return Associator<H, Default>::get(detoured.handler);
  }
  static auto get(const zklock::detail::DetouredHandler<H>& detoured, const Default& otherwise) noexcept {
    return Associator<H, Default>::get(detoured.handler, otherwise);
  }
};
