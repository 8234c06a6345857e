// The templates of asynchronous operations: they resolve the caller's handler and then erase its type.
#pragma once

#include <zklock/detail/existing.hpp>
#include <zklock/error.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/associator.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/system/system_error.hpp>

#include <exception>
#include <type_traits>
#include <utility>

namespace zklock {

namespace asio = boost::asio;

class Runtime;

namespace detail {

/// A handler of any type. It is called on the client's serial executor or, if it has an executor of its own, on any
/// thread, and goes from there to its executor; see BoundHandler. Boost 1.81 crashes when one is move-assigned: keep it
/// in an optional and move-construct.
template <class... Results>
using Handler = asio::any_completion_handler<void(error_code, Results...)>;

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
concept Inhabited = Postable<Executor> && requires(const Executor& executor) {
  executor.running_in_this_thread();
};

/// How a handler gets to its own executor.
enum class Way {
  none,    ///< it runs on the serial executor, which is its own
  direct,  ///< by a post to its executor
  detour,  ///< by a post to the callback executor; from there its own executor, if it has one, may do anything
};

/// A handler that goes to its executor when it is called. User code does not run inside the serial executor, where it
/// would hold up the heartbeats, unless the handler is bound to that executor explicitly. The handler keeps work on
/// `executor` outstanding until it has run, so that an io_context that only waits for a lock does not run out of work.
template <class H, class Executor>
struct BoundHandler {
  H handler;
  Executor executor;
  Way way;

  template <class... Values>
  void operator()(Values... values) && {
    if (way == Way::none) return std::move(handler)(std::move(values)...);
    auto call = asio::append(std::move(handler), std::move(values)...);
    if constexpr (Postable<ExecutorOf<H>>)
      if (way == Way::direct) return asio::post(std::move(call));
    asio::post(executor, std::move(call));
  }
};

template <class H, class Executor>
auto bound(H&& handler, const Executor& executor, Way way) {
  auto working = asio::prefer(executor, asio::execution::outstanding_work.tracked);
  return BoundHandler<std::decay_t<H>, decltype(working)>{std::forward<H>(handler), std::move(working), way};
}

/// Calls `start(handler)` with the handler bound to its own executor, or to the target's callback executor.
template <class H, class Target, class Start>
void start_bound(H&& handler, const Target& target, Start start) {
  using Executor = ExecutorOf<H>;
  if constexpr (std::is_same_v<Executor, asio::any_io_executor>) {
    const asio::any_io_executor executor = asio::get_associated_executor(handler);
    const Way way = executor == serial_executor(target)                 ? Way::none
                    : executor.template target<asio::system_executor>() ? Way::detour
                                                                        : Way::direct;
    start(bound(std::forward<H>(handler), way == Way::detour ? callback_executor(target) : executor, way));
  } else if constexpr (Inhabited<Executor>) {
    const Executor executor = asio::get_associated_executor(handler);
    start(bound(std::forward<H>(handler), executor, Way::direct));
  } else {
    start(bound(std::forward<H>(handler), callback_executor(target), Way::detour));
  }
}

/// The initiation of every operation: it calls `start(target, args..., handler)` with a BoundHandler. Handle is a
/// shared_ptr or similar. callback_executor(*target) is the operation's own executor as Asio sees it.
template <auto start, class Handle>
class Initiation {
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
    auto& target = *target_;
    start_bound(std::forward<H>(handler), target, [&](auto bound_handler) {
      start(std::move(target_), std::forward<Args>(args)..., std::move(bound_handler));
    });
  }
  template <class H, class... Args>
  void operator()(H&& handler, Args&&... args) const& {
    Initiation{*this}(std::forward<H>(handler), std::forward<Args>(args)...);
  }

 private:
  Handle target_;
};

/// Starts an operation. Throws Error::used_after_fork in a child process, and Error::invalid_state if there is no target
/// (the object is empty or was moved from).
template <class Signature, auto start, class Token, class Handle, class... Args>
auto initiate(Token&& token, Handle target, Args&&... args) {
  refuse_after_fork(existing(target));
  return asio::async_initiate<Token, Signature>(Initiation<start, Handle>{std::move(target)}, token,
                                                std::forward<Args>(args)...);
}

}  // namespace detail
}  // namespace zklock

/// A BoundHandler has the associations (allocator, cancellation slot, executor) of the handler that it wraps.
template <template <class, class> class Associator, class H, class Executor, class Default>
struct boost::asio::associator<Associator, zklock::detail::BoundHandler<H, Executor>, Default>
    : Associator<H, Default> {
  static typename Associator<H, Default>::type get(const zklock::detail::BoundHandler<H, Executor>& bound) noexcept {
    return Associator<H, Default>::get(bound.handler);
  }
  static auto get(const zklock::detail::BoundHandler<H, Executor>& bound, const Default& otherwise) noexcept {
    return Associator<H, Default>::get(bound.handler, otherwise);
  }
};
