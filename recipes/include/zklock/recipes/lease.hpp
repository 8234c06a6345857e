// Proof of holding a lock.
#pragma once

#include <zklock/detail/operation.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace zklock {

enum class LeaseState {
  held,     ///< the session is connected, and nobody of ours has released it
  suspect,  ///< the link is lost: the lock may still be ours; do nothing that needs it until it is held again
  lost,     ///< the session is over: somebody else may hold the lock by now
  released  ///< given back, or never held
};

[[nodiscard]] std::string_view to_string(LeaseState state) noexcept;

namespace detail {
class Hold;
asio::any_io_executor callback_executor(const Hold& hold);
void refuse_after_fork(const Hold& hold);
void start_release(std::shared_ptr<Hold> hold, Handler<> handler);
void start_wait_lost(std::shared_ptr<Hold> hold, Handler<> handler);
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
  /// state() == LeaseState::held.
  [[nodiscard]] bool is_held() const noexcept { return state() == LeaseState::held; }
  /// Grows with every grant of the lock: the transaction number (czxid) of our node. 0 if nothing was ever held.
  [[nodiscard]] std::int64_t fencing_token() const noexcept;
  /// The full path of our node; empty if nothing was ever held.
  [[nodiscard]] std::string node_path() const;
  /// How many times over its owner holds the lock; 0 once all is given back.
  [[nodiscard]] std::uint32_t count() const noexcept;
  [[nodiscard]] explicit operator bool() const noexcept { return is_held(); }

  /// Gives back what this lease holds. If its owner holds the lock by nothing else, this deletes the node and waits for
  /// the server's word. The delete outlives a lost link; it is tried until it is done
  /// or the session is over.
  ///
  /// Signature     void(error_code)
  /// Errors        Error::lock_lost if the node or the session was gone before, Error::not_owner if released already,
  ///               Error::no_auth
  /// Cancellation  none
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_release(Token&& token = {}) {
    return detail::initiate<void(error_code), &detail::start_release>(std::forward<Token>(token), hold_);
  }

  /// Waits until the lock is lost with its session. That somebody deletes the lock's node by hand goes unnoticed until
  /// the release, which then reports lock_lost.
  ///
  /// Signature     void(error_code)
  /// Completes     with success when the session is over, which is known at the latest one session timeout after the
  ///               last word from a server.
  /// Errors        operation_aborted when cancelled, and when the lease is released meanwhile
  /// Cancellation  terminal, partial, total.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_wait_lost(Token&& token = {}) {
    return detail::initiate<void(error_code), &detail::start_wait_lost>(std::forward<Token>(token), hold_);
  }

  /// What is held, taken out of the lease, which holds nothing afterwards. For recipes.
  [[nodiscard]] std::shared_ptr<detail::Hold> into_hold() && noexcept { return std::move(hold_); }

 private:
  std::shared_ptr<detail::Hold> hold_;
};

}  // namespace zklock
