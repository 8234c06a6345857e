// Proof of holding a lock.
#pragma once

#include <zklock/clock.hpp>
#include <zklock/detail/operation.hpp>
#include <zklock/transaction.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace zklock {

enum class LeaseState {
  held,     ///< connected, and valid_until() is ahead
  suspect,  ///< the link is lost: the lock is ours until valid_until(); do nothing that takes longer
  lost,     ///< the session is over, or valid_until() has passed, or the node is gone: somebody else may hold the lock
  released  ///< given back, or never held
};

[[nodiscard]] std::string_view to_string(LeaseState state) noexcept;

namespace detail {
class Hold;
asio::any_io_executor serial_executor(const Hold& hold);
asio::any_io_executor callback_executor(const Hold& hold);
void refuse_after_fork(const Hold& hold);
void start_release(std::shared_ptr<Hold> hold, Deadline deadline, Handler<> handler);
void start_wait_lost(std::shared_ptr<Hold> hold, Handler<> handler);
void start_wait_revocation(std::shared_ptr<Hold> hold, Handler<> handler);
void release_in_background(const std::shared_ptr<Hold>& hold) noexcept;
}  // namespace detail

/// Holds a lock, and gives it back at the end of its life: its destructor puts the delete on the wire and does not
/// wait.
///
/// A lease cannot stop a process that was paused from acting after it has lost the lock: give fencing_token() to the
/// resource, and let that refuse older ones.
///
/// Threads: one at a time; any thread. The const functions may be called from any number of threads.
class [[nodiscard]] Lease {
 public:
  /// Holds nothing.
  Lease() noexcept = default;
  explicit Lease(std::shared_ptr<detail::Hold> hold) noexcept : hold_{std::move(hold)} {}
  Lease(Lease&&) noexcept = default;
  Lease& operator=(Lease&& other) noexcept {
    if (this != &other) {
      detail::release_in_background(hold_);
      hold_ = std::move(other.hold_);
    }
    return *this;
  }
  ~Lease() { detail::release_in_background(hold_); }

  [[nodiscard]] LeaseState state() const noexcept;
  /// The lock is ours until then at the least, whatever happens to the servers, the link or this process. While it is
  /// held it moves on, half of the session timeout ahead or more; once it has passed the lease is lost.
  /// time_point{}, which is long ago, for a lease that is lost or released.
  [[nodiscard]] Clock::time_point valid_until() const noexcept;
  /// From now until then; zero for a lease that is lost or released.
  [[nodiscard]] Clock::duration remaining() const noexcept;
  /// state() == LeaseState::held.
  [[nodiscard]] bool is_held() const noexcept { return state() == LeaseState::held; }
  /// Grows with every grant of the lock: the transaction number (czxid) of our node. Who acquires the read lock while
  /// he has the write lock keeps his place in line, and so the writer's token. 0 if nothing was ever held.
  [[nodiscard]] std::int64_t fencing_token() const noexcept;
  /// The full path of our node; empty if nothing was ever held.
  [[nodiscard]] std::string node_path() const;
  /// How many times over its owner holds the lock; 0 once all is given back.
  [[nodiscard]] std::uint32_t count() const noexcept;
  [[nodiscard]] explicit operator bool() const noexcept { return is_held(); }

  /// A transaction that does nothing yet but fail with Error::no_node when the lock is ours no more; what is added to
  /// it is done while we hold the lock, or not at all. Throws Error::invalid_state if nothing was ever held.
  ///
  ///   co_await client.async_commit(lease.guard().set_data("/stock/42", "0"));
  [[nodiscard]] Transaction guard() const;

  /// Gives back what this lease holds. If its owner holds the lock by nothing else, this deletes the node and waits for
  /// the server's word. The delete outlives a lost link; it is tried until it is done or the session is over. If the
  /// answer to a delete is lost with the link, and the node is gone when it is tried again, it counts as deleted by us.
  ///
  /// Signature     void(error_code)
  /// Completes     when the server has deleted the node, or the session is over; at once if the owner holds the lock by
  ///               something else, too.
  /// Errors        Error::lock_lost if the node or the session was gone before, Error::not_owner if released already,
  ///               Error::no_auth, operation_aborted
  /// Cancellation  terminal, partial, total: of the wait. The delete goes on in the background.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_release(Token&& token = {}) {
    return detail::initiate<void(error_code), &detail::start_release>(std::forward<Token>(token), hold_, Deadline{});
  }
  /// As above, waiting for at most `wait`. The delete goes on in the background when the time is up.
  ///
  /// Signature     void(error_code)
  /// Errors        besides the above Error::timed_out
  template <class Rep, class Period, asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_release(std::chrono::duration<Rep, Period> wait, Token&& token = {}) {
    return detail::initiate<void(error_code), &detail::start_release>(std::forward<Token>(token), hold_, after(wait));
  }

  /// Waits until the lock is lost. Watches the lock's node meanwhile, so it hears also of an operator who deletes that.
  ///
  /// Signature     void(error_code)
  /// Completes     with success when the lease is LeaseState::lost: at valid_until() at the latest.
  /// Errors        operation_aborted when cancelled, and when the lease is released meanwhile
  /// Cancellation  terminal, partial, total.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_wait_lost(Token&& token = {}) {
    return detail::initiate<void(error_code), &detail::start_wait_lost>(std::forward<Token>(token), hold_);
  }

  /// Waits until somebody asks for the lock (async_attempt_revoke, Curator's Revoker); to give it back is up to us.
  ///
  /// Signature     void(error_code)
  /// Completes     with success when the request is seen in the lock's node; again at once if it is waited for again.
  /// Errors        Error::lock_lost, operation_aborted when cancelled, and when the lease is released meanwhile
  /// Cancellation  terminal, partial, total.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_wait_revocation(Token&& token = {}) {
    return detail::initiate<void(error_code), &detail::start_wait_revocation>(std::forward<Token>(token), hold_);
  }

  /// What is held, taken out of the lease, which holds nothing afterwards. For recipes.
  [[nodiscard]] std::shared_ptr<detail::Hold> into_hold() && noexcept { return std::move(hold_); }

 private:
  std::shared_ptr<detail::Hold> hold_;
};

}  // namespace zklock
