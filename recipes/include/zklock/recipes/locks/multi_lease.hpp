// Proof of holding several locks.
#pragma once

#include <zklock/recipes/lease.hpp>

#include <chrono>
#include <memory>
#include <span>

namespace zklock {

namespace detail {
class MultiHold;
asio::any_io_executor serial_executor(const MultiHold& holds);
asio::any_io_executor callback_executor(const MultiHold& holds);
void refuse_after_fork(const MultiHold& holds);
void start_release_all(std::shared_ptr<MultiHold> holds, Deadline deadline, Handler<> handler);
}  // namespace detail

/// Holds all the locks of an InterProcessMultiLock, and gives them back at the end of its life, the last acquired
/// first: its destructor puts the deletes on the wire and does not wait.
///
/// Threads: one at a time; any thread. The const functions may be called from any number of threads.
class [[nodiscard]] MultiLease {
 public:
  /// Holds nothing.
  MultiLease() noexcept = default;
  explicit MultiLease(std::shared_ptr<detail::MultiHold> holds) noexcept : holds_{std::move(holds)} {}
  MultiLease(MultiLease&&) noexcept = default;
  MultiLease& operator=(MultiLease&&) noexcept = default;
  ~MultiLease() = default;

  /// The worst of its leases' states: one that is lost is enough.
  [[nodiscard]] LeaseState state() const noexcept;
  /// state() == LeaseState::held: all of them are held.
  [[nodiscard]] bool is_held() const noexcept { return state() == LeaseState::held; }
  [[nodiscard]] explicit operator bool() const noexcept { return is_held(); }
  /// In the order in which the locks were named, for their fencing tokens above all; empty if nothing was ever held.
  [[nodiscard]] std::span<const Lease> leases() const noexcept;

  /// Gives all of them back, the last acquired first, and waits for the servers' word. One that fails keeps no other.
  ///
  /// Signature     void(error_code)
  /// Completes     when each is given back, or the session that had it is over.
  /// Errors        those of Lease::async_release; of several the first
  /// Cancellation  as Lease::async_release
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_release(Token&& token = {}) {
    return detail::initiate<void(error_code), &detail::start_release_all>(std::forward<Token>(token), holds_,
                                                                          Deadline{});
  }
  /// As above, waiting for at most `wait` in all; see Lease::async_release.
  ///
  /// Signature     void(error_code)
  /// Errors        besides the above Error::timed_out
  template <class Rep, class Period, asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_release(std::chrono::duration<Rep, Period> wait, Token&& token = {}) {
    return detail::initiate<void(error_code), &detail::start_release_all>(std::forward<Token>(token), holds_,
                                                                          after(wait));
  }

  /// What is held, taken out of the lease, which holds nothing afterwards. For recipes.
  [[nodiscard]] std::shared_ptr<detail::MultiHold> into_holds() && noexcept { return std::move(holds_); }

 private:
  std::shared_ptr<detail::MultiHold> holds_;
};

}  // namespace zklock
