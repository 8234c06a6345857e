// A barrier that processes wait at until it is removed.
#pragma once

#include <zklock/recipe_kit/recipe_core.hpp>
#include <zklock/recipe_kit/wait_policy.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace zklock {

namespace detail {
using Barrier = std::shared_ptr<RecipeCore>;
void start_set_barrier(Barrier barrier, CreateMode mode, Handler<> handler);
void start_remove_barrier(Barrier barrier, Handler<> handler);
void start_wait_on_barrier(Barrier barrier, WaitPolicy wait, Handler<> handler);
}  // namespace detail

/// A node that is there while the barrier is closed. Curator's DistributedBarrier and Kazoo's Barrier: all three work
/// together on one path.
///
/// Threads: any thread may call anything but the destructor.
class DistributedBarrier {
 public:
  /// Throws boost::system::system_error: Error::invalid_path.
  DistributedBarrier(const ClientHandle& client, std::string path);
  /// A temporary Client would be closed at once.
  template <class... Rest>
  DistributedBarrier(Client&&, Rest&&...) = delete;

  [[nodiscard]] const std::string& path() const { return detail::existing(core_).path(); }

  /// Closes the barrier, with containers on the way down to it. `mode` is persistent or ephemeral; an ephemeral node
  /// goes with the session that has made it. A barrier that is closed already stays as it is, whichever client has
  /// closed it: an earlier session's ephemeral node, too, which goes with that session.
  ///
  /// Signature     void(error_code)
  /// Errors        as ClientOperations::async_create, but for node_exists; Error::invalid_create_mode for other modes
  /// Cancellation  terminal, partial, total: the barrier may be closed all the same.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_set(CreateMode mode, Token&& token = {}) const {
    return detail::initiate<void(error_code), &detail::start_set_barrier>(std::forward<Token>(token), core_, mode);
  }
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_set(Token&& token = {}) const {
    return async_set(CreateMode::persistent, std::forward<Token>(token));
  }

  /// Opens the barrier for all that wait. A barrier that is open already is no error.
  ///
  /// Signature     void(error_code)
  /// Errors        as ClientOperations::async_remove, but for no_node
  /// Cancellation  terminal, partial, total: the barrier may be opened all the same.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_remove(Token&& token = {}) const {
    return detail::initiate<void(error_code), &detail::start_remove_barrier>(std::forward<Token>(token), core_);
  }

  /// Waits until the barrier is open, or the one that was closed when the wait began has been removed. A wait of
  /// nothing looks once.
  ///
  /// Signature     void(error_code)
  /// Completes     when the server reports the removal. Lost links and sessions are survived: each look is tried again
  ///               as often as the client's retry policy allows.
  /// Errors        Error::timed_out (still closed when the time is up), Error::not_connected (no connection within the
  ///               client's connection_timeout), Error::connection_loss, Error::session_expired and
  ///               Error::operation_timeout (too often), Error::auth_failed, Error::no_auth, Error::closed,
  ///               Error::closing, Error::too_many_watches, operation_aborted
  /// Cancellation  terminal, partial, total: no watch is left.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <class Rep, class Period, asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_wait(std::chrono::duration<Rep, Period> wait, Token&& token = {}) const {
    return initiate_wait(detail::WaitPolicy::of(wait), std::forward<Token>(token));
  }
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_wait(Token&& token = {}) const {
    return initiate_wait(detail::WaitPolicy{}, std::forward<Token>(token));
  }

  // The same, blocking: they throw boost::system::system_error with the errors above, and Error::blocking_in_handler on
  // a thread that the client's work needs.

  void set(CreateMode mode = CreateMode::persistent) const;
  void remove() const;
  void wait() const { static_cast<void>(wait(detail::WaitPolicy{})); }
  /// False: still closed when the time is up.
  template <class Rep, class Period>
  [[nodiscard]] bool wait(std::chrono::duration<Rep, Period> wait_for) const {
    return wait(detail::WaitPolicy::of(wait_for));
  }

 private:
  template <class Token>
  auto initiate_wait(detail::WaitPolicy wait, Token&& token) const {
    return detail::initiate<void(error_code), &detail::start_wait_on_barrier>(std::forward<Token>(token), core_, wait);
  }
  bool wait(detail::WaitPolicy wait) const;

  detail::Barrier core_;
};

}  // namespace zklock
