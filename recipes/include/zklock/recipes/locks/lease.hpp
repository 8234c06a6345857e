// The object that holds a lock and releases it.
#pragma once

#include <zklock/clock.hpp>
#include <zklock/detail/initiate.hpp>
#include <zklock/recipes/locks/lock_error.hpp>
#include <zklock/transaction.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace zklock {

class Session;

enum class LeaseState {
  held,     ///< connected, and valid_until() is ahead
  suspect,  ///< the link is lost, but the lock is held until valid_until(); start nothing that takes longer
  lost,     ///< session over, valid_until() passed, or node deleted: another client may hold the lock
  released  ///< released, or never held
};

[[nodiscard]] std::string_view to_string(LeaseState state) noexcept;

namespace detail {
class LeaseShare;
const Session& home_of(const LeaseShare& share);
void start_release(std::shared_ptr<LeaseShare> share, Deadline deadline, Handler<> handler);
void start_wait_lost(std::shared_ptr<LeaseShare> share, Handler<> handler);
void start_wait_revocation(std::shared_ptr<LeaseShare> share, Handler<> handler);
void release_in_background(const std::shared_ptr<LeaseShare>& share) noexcept;
[[nodiscard]] bool extend(const std::shared_ptr<LeaseShare>& share, Deadline until) noexcept;
}  // namespace detail

/// Holds a lock, and releases it at the end of its life: its destructor sends the delete and does not wait.
///
/// A lease cannot stop a process that was paused from acting after it has lost the lock: give fencing_token() to the
/// resource, and let the resource refuse older tokens.
///
/// Threads: one at a time; any thread. The const functions may be called from any number of threads.
class [[nodiscard]] Lease {
 public:
  /// Holds nothing.
  Lease() noexcept = default;
  explicit Lease(std::shared_ptr<detail::LeaseShare> share) noexcept : share_{std::move(share)} {}
  Lease(Lease&&) noexcept = default;
  Lease& operator=(Lease&& other) noexcept {
    if (this != &other) {
      detail::release_in_background(share_);
      share_ = std::move(other.share_);
    }
    return *this;
  }
  ~Lease() { detail::release_in_background(share_); }

  [[nodiscard]] LeaseState state() const noexcept;
  /// The lock is held until then at least, whatever happens to the servers, the link or this process. While the lock is
  /// held, this moment moves on and stays half of the session timeout or more ahead, or at the end of
  /// LockSettings::max_hold; once it has passed, the lease is lost. time_point{}, which is long ago, for a lease that
  /// is lost or released.
  [[nodiscard]] Clock::time_point valid_until() const noexcept;
  /// The time from now until valid_until(); zero for a lease that is lost or released.
  [[nodiscard]] Clock::duration remaining() const noexcept;
  /// state() == LeaseState::held.
  [[nodiscard]] bool is_held() const noexcept { return state() == LeaseState::held; }
  /// Grows with every grant of the lock: the transaction number (czxid) of the lease's node. An owner that acquires the
  /// read lock while it has the write lock keeps its queue position, and so the writer's token. 0 if nothing was ever
  /// held.
  [[nodiscard]] std::int64_t fencing_token() const noexcept;
  /// The full path of the lease's node; empty if nothing was ever held.
  [[nodiscard]] std::string node_path() const;
  /// How many times its owner has entered the lock; 0 once all is released.
  [[nodiscard]] std::uint32_t count() const noexcept;
  [[nodiscard]] explicit operator bool() const noexcept { return is_held(); }
  /// Of a lease that is lost, LockEvent::cause: "max_hold_passed", for example. Empty for any other.
  [[nodiscard]] std::string_view cause_of_loss() const noexcept;

  /// From now on the lock may be held for this long, if LockSettings::max_hold would end it earlier. Asks no server,
  /// and keeps no session alive. False: it is lost or released.
  template <class Rep, class Period>
  [[nodiscard]] bool extend(std::chrono::duration<Rep, Period> hold) noexcept {
    return detail::extend(share_, after(hold));
  }

  /// A transaction that so far only checks the lock: it fails with Error::no_node when the lock is not held any more.
  /// What is added to it is done while the lock is held, or not at all. Throws Error::empty_object if nothing was ever
  /// held.
  ///
  ///   co_await client.async_commit(lease.guard().set_data("/stock/42", "0"));
  [[nodiscard]] Transaction guard() const;

  /// Releases what this lease holds. If it is the last lease of its owner on the lock, this deletes the node and waits
  /// for the server's reply. The delete survives a lost link; it is retried until it is done or the session is over. If
  /// the reply to a delete is lost with the link, and a later try finds the node gone, it counts as deleted by this
  /// release.
  ///
  /// Signature     void(error_code)
  /// Completes     when the server has deleted the node, or the session is over; at once if the owner holds the lock by
  ///               another lease, too.
  /// Errors        LockError::lock_lost if the node or the session was gone before, LockError::not_owner if already
  ///               released, Error::no_auth, operation_aborted
  /// Cancellation  terminal, partial, total: they end the wait. The delete goes on in the background.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_release(Token&& token = {}) {
    return detail::initiate<void(error_code), &detail::start_release>(std::forward<Token>(token), share_, Deadline{});
  }
  /// As above, waiting for at most `wait`. The delete goes on in the background when the time is up.
  ///
  /// Signature     void(error_code)
  /// Errors        besides the above Error::timed_out
  template <class Rep, class Period, asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_release(std::chrono::duration<Rep, Period> wait, Token&& token = {}) {
    return detail::initiate<void(error_code), &detail::start_release>(std::forward<Token>(token), share_, after(wait));
  }

  /// Waits until the lock is lost. Watches the lock's node meanwhile, so it also detects that an operator deletes the
  /// node.
  ///
  /// Signature     void(error_code)
  /// Completes     with success when the lease is LeaseState::lost: at valid_until() at the latest.
  /// Errors        operation_aborted when cancelled, and when the lease is released meanwhile
  /// Cancellation  terminal, partial, total.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_wait_lost(Token&& token = {}) {
    return detail::initiate<void(error_code), &detail::start_wait_lost>(std::forward<Token>(token), share_);
  }

  /// Waits until a client asks for the lock (async_attempt_revoke, Curator's Revoker). The holder decides whether to
  /// release it.
  ///
  /// Signature     void(error_code)
  /// Completes     with success when the request is seen in the lock's node; a further wait completes at once.
  /// Errors        LockError::lock_lost, operation_aborted when cancelled, and when the lease is released meanwhile
  /// Cancellation  terminal, partial, total.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_wait_revocation(Token&& token = {}) {
    return detail::initiate<void(error_code), &detail::start_wait_revocation>(std::forward<Token>(token), share_);
  }

  /// What is held; null: nothing ever was. For recipes.
  [[nodiscard]] const std::shared_ptr<detail::LeaseShare>& share() const noexcept { return share_; }
  /// Takes what is held out of the lease, which holds nothing afterwards. For recipes.
  [[nodiscard]] std::shared_ptr<detail::LeaseShare> into_share() && noexcept { return std::move(share_); }

 private:
  std::shared_ptr<detail::LeaseShare> share_;
};

}  // namespace zklock
