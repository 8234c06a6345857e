// What the templates of asynchronous operations need in a header: the caller's handler is resolved, then erased.
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

namespace detail {

/// A handler of any kind. Called on the client's serial executor it goes to its own; see Anchored. Boost 1.81 crashes
/// when one is move-assigned: keep it in an optional and move-construct.
template <class... Results>
using Handler = asio::any_completion_handler<void(error_code, Results...)>;

struct Unassociated {};

template <class H>
using ExecutorOf = typename asio::associated_executor<std::decay_t<H>, Unassociated>::type;

template <class Executor>
concept Postable = requires(const Executor& executor) {
  asio::require(executor, asio::execution::blocking.never);
};

/// One that knows its threads, and so has some. Not so the system_executor, that of use_future, or one of the user's
/// that has no more than execute().
template <class Executor>
concept Inhabited = Postable<Executor> && requires(const Executor& executor) {
  executor.running_in_this_thread();
};

/// How a handler gets from the serial executor to where it belongs.
enum class Way {
  none,    ///< it is there: that is its executor
  direct,  ///< by a post to its executor
  detour,  ///< by a post to the callback executor, from which its own, if it has one, may do as it likes
};

/// A handler that goes its way when it is called. Nothing of the user's runs inside the serial executor, where it would
/// hold up the heartbeats, unless that is asked for by name. The work of `executor` stays open until the handler has
/// run: an io_context whose only business is to wait for a lock does not run dry.
template <class H, class Executor>
struct Anchored {
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
auto anchored(H&& handler, const Executor& executor, Way way) {
  auto working = asio::prefer(executor, asio::execution::outstanding_work.tracked);
  return Anchored<std::decay_t<H>, decltype(working)>{std::forward<H>(handler), std::move(working), way};
}

/// Starts `start(handler)` with the handler anchored to its own executor, or to the target's callback executor.
template <class H, class Target, class Start>
void anchor(H&& handler, const Target& target, Start start) {
  using Executor = ExecutorOf<H>;
  if constexpr (std::is_same_v<Executor, asio::any_io_executor>) {
    const asio::any_io_executor executor = asio::get_associated_executor(handler);
    const Way way = executor == serial_executor(target)                 ? Way::none
                    : executor.template target<asio::system_executor>() ? Way::detour
                                                                        : Way::direct;
    start(anchored(std::forward<H>(handler), way == Way::detour ? callback_executor(target) : executor, way));
  } else if constexpr (Inhabited<Executor>) {
    const Executor executor = asio::get_associated_executor(handler);
    start(anchored(std::forward<H>(handler), executor, Way::direct));
  } else {
    start(anchored(std::forward<H>(handler), callback_executor(target), Way::detour));
  }
}

/// What every operation begins with: `start(target, args..., handler)`, with the handler anchored. Handle is a
/// shared_ptr, or like one, for which serial_executor(*target) names the executor of the client's I/O, and
/// callback_executor(*target) the one of handlers that bring none, which is the operation's own, as Asio sees it.
template <auto start, class Handle>
class Initiation {
 public:
  using executor_type = asio::any_io_executor;

  explicit Initiation(Handle target) : target_{std::move(target)} {}

  /// Asio takes for granted that this does not throw. Where no thread can be started for callbacks it is the I/O's:
  /// what Asio's adapters do there is short, and a handler that needs that thread is refused when the operation begins.
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
    anchor(std::forward<H>(handler), target, [&](auto anchored_handler) {
      start(std::move(target_), std::forward<Args>(args)..., std::move(anchored_handler));
    });
  }
  template <class H, class... Args>
  void operator()(H&& handler, Args&&... args) const& {
    Initiation{*this}(std::forward<H>(handler), std::forward<Args>(args)...);
  }

 private:
  Handle target_;
};

/// The shim of every operation. refuse_after_fork(*target) throws in a child process. Throws Error::invalid_state
/// without a target (an object that is empty, or was moved from).
template <class Signature, auto start, class Token, class Handle, class... Args>
auto initiate(Token&& token, Handle target, Args&&... args) {
  refuse_after_fork(existing(target));
  return asio::async_initiate<Token, Signature>(Initiation<start, Handle>{std::move(target)}, token,
                                                std::forward<Args>(args)...);
}

}  // namespace detail
}  // namespace zklock

/// What is associated with an anchored handler (allocator, cancellation slot, executor) is what is associated with the
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
