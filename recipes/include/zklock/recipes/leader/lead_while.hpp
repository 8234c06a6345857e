// Code that runs while it leads, and no longer.
#pragma once

#include <zklock/recipes/leader/leader_election.hpp>
#include <zklock/recipes/locks/with_lease.hpp>
#include <zklock/timer.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>

#include <concepts>
#include <exception>
#include <functional>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace zklock {

/// Whether lead_while stands again when the body has returned, or the leadership was lost.
enum class RunAgain { no, yes };

namespace detail {

/// How a body has ended.
template <class T>
struct BodyOutcome {
  std::exception_ptr thrown{};
  std::conditional_t<std::is_void_v<T>, Nothing, std::optional<T>> value{};
};

/// No body begins with a leadership that was lost since it was granted.
void refuse_if_lost(const Leadership& leadership);

// Coroutines of `a || b` must not throw: the other one would go on alone.

template <class Body, class T>
asio::awaitable<void> run_to_its_end(Body& body, Leadership& leadership, BodyOutcome<T>& outcome) {
  try {
    refuse_if_lost(leadership);
    auto running = run_body(body, leadership);
    if constexpr (std::is_void_v<T>) {
      co_await std::move(running);
    } else {
      outcome.value.emplace(co_await std::move(running));
    }
  } catch (...) {
    outcome.thrown = std::current_exception();
  }
}

/// Returns when the leadership is lost, and never when it has resigned: the body may do that, and go on.
template <class Wait>
asio::awaitable<void> wait_lost_only(Wait waiting) {
  const auto [resigned] = co_await std::move(waiting);
  if (!resigned) co_return;
  Timer never{co_await asio::this_coro::executor, Clock::time_point::max()};
  co_await never.async_wait(asio::as_tuple(asio::deferred));
}

[[nodiscard]] bool is_cancellation(const std::exception_ptr& thrown) noexcept;

/// The end of a body: gives the leadership up, and passes the outcome on. A body that was cancelled by the loss has
/// failed with it.
template <class T>
asio::awaitable<T> conclude(Leadership& leadership, BodyOutcome<T>& outcome, bool throws_if_cancelled) {
  struct Resigning {
    Leadership& leadership;
    [[nodiscard]] LeaseState state() const { return leadership.state(); }
    auto async_release(std::chrono::milliseconds wait, asio::as_tuple_t<asio::deferred_t> token) {
      return leadership.async_resign(wait, token);
    }
  } resigning{leadership};
  error_code lost;
  if (leadership.state() != LeaseState::released) {  // the body may have resigned
    auto giving_back = give_back(resigning, HoldOptions{}.release_wait);
    lost = co_await std::move(giving_back);
  }
  co_await asio::this_coro::throw_if_cancelled(throws_if_cancelled);
  const bool ended_by_loss = lost && outcome.thrown && is_cancellation(outcome.thrown);
  if (outcome.thrown && !ended_by_loss) std::rethrow_exception(outcome.thrown);
  if (lost) throw boost::system::system_error{lost, "lead_while"};
  if constexpr (!std::is_void_v<T>) co_return std::move(*outcome.value);
}

/// As async_lead; but what a lost link or session explains is waited out, as LeaderElection::stand does.
asio::awaitable<Leadership> lead_however_long(LeaderElection election);

/// The election and the body are parameters, and so live in the coroutine's frame until it ends.
template <class Body, class T = BodyResult<Body, Leadership>>
asio::awaitable<T> lead_once(LeaderElection election, RunAgain again, Body body) {
  using namespace asio::experimental::awaitable_operators;
  auto leading = again == RunAgain::yes ? lead_however_long(election) : election.async_lead(asio::use_awaitable);
  Leadership leadership = co_await std::move(leading);
  BodyOutcome<T> outcome;
  auto waiting = leadership.async_wait_lost(asio::as_tuple(asio::deferred));
  auto both = run_to_its_end<Body, T>(body, leadership, outcome) || wait_lost_only(std::move(waiting));
  co_await std::move(both);
  // Or else a caller that has cancelled would lose the outcome.
  const bool throws_if_cancelled = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  auto concluding = conclude<T>(leadership, outcome, throws_if_cancelled);
  if constexpr (std::is_void_v<T>) {
    co_await std::move(concluding);
  } else {
    co_return co_await std::move(concluding);
  }
}

template <class Body>
asio::awaitable<void> lead_again_and_again(LeaderElection election, Body body) {
  for (;;) {
    auto once = lead_once<std::reference_wrapper<Body>>(election, RunAgain::yes, std::ref(body));
    try {
      static_cast<void>(co_await std::move(once));
    } catch (const boost::system::system_error& error) {
      if (error.code() != LockError::lock_lost) throw;
    }
  }
}

}  // namespace detail

/// Leads, runs `body(leadership)` or `body()`, which gives an asio::awaitable<T>, and resigns, in this order: the body
/// is cancelled when the leadership is lost, it is awaited, and only then the node is deleted. Then passes on what the
/// body has returned or thrown. with_lease's sister for LeaderLatch and LeaderSelector, and what Curator's
/// LeaderSelectorListener is for.
///
///   co_await lead_while(latch, [&](Leadership& leadership) { return serve(leadership.fencing_token()); });
///
/// A body that ignores its cancellation goes on, though another candidate leads by then: let it write by
/// Leadership::guard(), or with the fencing token. With g++ 12, a lambda that captures anything with a destructor by
/// value must be named first (docs/contributing.md, compiler traps); otherwise it does not compile.
///
/// Completes     when the server has confirmed that the node is deleted, or the session is over
/// Errors        those of async_lead, and the body's own; LockError::lock_lost when the leadership was lost, unless the
///               body has thrown an error of its own
/// Cancellation  of the coroutine that awaits it: ends the wait for the leadership, or goes to the body, or ends the
///               wait for the resignation, which goes on in the background.
/// Threads       runs on the executor of the coroutine that awaits it, which must run one function at a time.
template <class Body>
[[nodiscard]] auto lead_while(const LeaderElection& election, Body&& body) {
  detail::refuse_what_is_destroyed_twice<Body>();
  return detail::lead_once<std::decay_t<Body>>(election, RunAgain::no, std::decay_t<Body>(std::forward<Body>(body)));
}

/// As above; with RunAgain::yes it stands again, at the end of the queue, whenever the body has returned, and whenever
/// the leadership was lost, however long the link or the session is away: until it is cancelled, or another error comes
/// out, or any of the body. What the body returns is dropped.
template <class Body>
[[nodiscard]] asio::awaitable<void> lead_while(const LeaderElection& election, RunAgain again, Body&& body) {
  detail::refuse_what_is_destroyed_twice<Body>();
  using Kept = std::decay_t<Body>;
  if (again == RunAgain::yes) return detail::lead_again_and_again<Kept>(election, Kept(std::forward<Body>(body)));
  return detail::lead_once<Kept, void>(election, RunAgain::no, Kept(std::forward<Body>(body)));
}

/// The same for threads: leads, calls `body(leadership, stop)`, and resigns when it returns or throws. `stop` is
/// requested when the leadership is lost. Blocks.
///
///   lead_while(latch, [&](Leadership&, std::stop_token stop) { while (!stop.stop_requested()) serve_one(); });
///
/// Throws boost::system::system_error: the errors of async_lead; LockError::lock_lost when the body has returned and
/// the leadership was lost; Error::blocking_in_handler where the client's own work would have to wait for this call.
/// What the body throws comes out.
template <class Body>
requires std::invocable<Body&, Leadership&, std::stop_token>
auto lead_while(const LeaderElection& election, Body&& body) {
  Leadership leadership = election.lead();
  detail::refuse_if_lost(leadership);
  std::stop_source stop;
  leadership.async_wait_lost([stop](error_code resigned) mutable {
    if (!resigned) stop.request_stop();
  });
  const auto resign = [&] {
    if (leadership.state() != LeaseState::released) leadership.resign();
  };
  if constexpr (std::is_void_v<std::invoke_result_t<Body&, Leadership&, std::stop_token>>) {
    std::invoke(body, leadership, stop.get_token());
    resign();
  } else {
    auto result = std::invoke(body, leadership, stop.get_token());
    resign();
    return result;
  }
}

}  // namespace zklock
