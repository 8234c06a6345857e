// The object that holds several locks and releases them.
#pragma once

#include <zklock/recipes/locks/lease.hpp>

#include <chrono>
#include <memory>
#include <span>

namespace zklock {

class ClientHandle;

namespace detail {
class MultiHold;
const ClientHandle& home_of(const MultiHold& holds);
void start_release_all(std::shared_ptr<MultiHold> holds, Deadline deadline, Handler<> handler);
}  // namespace detail

/// Holds all the locks of an InterProcessMultiLock, and releases them at the end of its life, the last acquired first:
/// its destructor sends the deletes and does not wait.
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

  /// The worst of its leases' states: it is lost if any of them is.
  [[nodiscard]] LeaseState state() const noexcept;
  /// state() == LeaseState::held: all of them are held.
  [[nodiscard]] bool is_held() const noexcept { return state() == LeaseState::held; }
  [[nodiscard]] explicit operator bool() const noexcept { return is_held(); }
  /// The leases in the order in which the locks were named, mainly for their fencing tokens; empty if nothing was ever
  /// held.
  [[nodiscard]] std::span<const Lease> leases() const noexcept;

  /// Releases all of them, the last acquired first, and waits for the servers' replies. A failure does not stop the
  /// release of the others.
  ///
  /// Signature     void(error_code)
  /// Completes     when each is released, or the session that had it is over.
  /// Errors        those of Lease::async_release; if there are several, the first
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

  /// Takes what is held out of the lease, which holds nothing afterwards. For recipes.
  [[nodiscard]] std::shared_ptr<detail::MultiHold> into_holds() && noexcept { return std::move(holds_); }

 private:
  std::shared_ptr<detail::MultiHold> holds_;
};

}  // namespace zklock
