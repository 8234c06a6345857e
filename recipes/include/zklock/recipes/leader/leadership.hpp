// The object that leads, and resigns.
#pragma once

#include <zklock/client.hpp>
#include <zklock/clock.hpp>
#include <zklock/detail/initiate.hpp>
#include <zklock/recipes/locks/lease.hpp>
#include <zklock/transaction.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace zklock {

class Leadership;

namespace detail {
class Candidate;
const ClientHandle& home_of(const Candidate& candidate);
void start_step_back(std::shared_ptr<Candidate> candidate, std::shared_ptr<LeaseShare> share,
                     Handler<Leadership> handler);
}  // namespace detail

/// Leads, and resigns at the end of its life: its destructor sends the delete of its node and does not wait. A node of
/// ours and the proof that its session lives, as a Lease: its state is a function of node, session and clock, and never
/// a flag that somebody forgot to clear.
///
/// No leadership can stop a process that was paused from acting after it has lost it: give fencing_token() to the
/// resource, and let the resource refuse older tokens; or write by guard().
///
/// Threads: one at a time; any thread. The const functions may be called from any number of threads.
class [[nodiscard]] Leadership {
 public:
  /// Leads nothing.
  Leadership() noexcept = default;
  /// For recipes.
  Leadership(Lease lease, std::shared_ptr<detail::Candidate> candidate) noexcept
      : lease_{std::move(lease)}, candidate_{std::move(candidate)} {}

  /// held, suspect (the link is lost, but no other candidate leads before valid_until()), lost, or released (resigned).
  [[nodiscard]] LeaseState state() const noexcept { return lease_.state(); }
  /// state() == LeaseState::held.
  [[nodiscard]] bool is_held() const noexcept { return lease_.is_held(); }
  [[nodiscard]] explicit operator bool() const noexcept { return is_held(); }
  /// It leads until then at least, as Lease::valid_until.
  [[nodiscard]] Clock::time_point valid_until() const noexcept { return lease_.valid_until(); }
  /// The time from now until valid_until(); zero when it is lost or has resigned.
  [[nodiscard]] Clock::duration remaining() const noexcept { return lease_.remaining(); }
  /// Grows with every leadership on the path: the transaction number (czxid) of the leader's node.
  [[nodiscard]] std::int64_t fencing_token() const noexcept { return lease_.fencing_token(); }
  /// The full path of the leader's node; empty if it never led.
  [[nodiscard]] std::string node_path() const { return lease_.node_path(); }

  /// A transaction that so far only checks the leadership; what is added to it is done while it leads, or not at all,
  /// as Lease::guard. Throws Error::empty_object if it never led.
  [[nodiscard]] Transaction guard() const { return lease_.guard(); }

  /// Gives the leadership up, and waits for the server's reply.
  ///
  /// Signature     void(error_code)
  /// Completes     when the server has deleted the node, or the session is over, however often the link is lost.
  /// Errors        LockError::lock_lost if the leadership was lost before, LockError::not_owner if it has resigned
  ///               already, Error::no_auth, operation_aborted
  /// Cancellation  terminal, partial, total: they end the wait. The delete goes on in the background.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_resign(Token&& token = {}) {
    return lease_.async_release(std::forward<Token>(token));
  }
  /// As above, waiting for at most `wait`. The delete goes on in the background when the time is up.
  ///
  /// Signature     void(error_code)
  /// Errors        besides the above Error::timed_out
  template <class Rep, class Period, asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_resign(std::chrono::duration<Rep, Period> wait, Token&& token = {}) {
    return lease_.async_release(wait, std::forward<Token>(token));
  }
  /// As async_resign, but blocks. Throws boost::system::system_error: its errors; Error::blocking_in_handler where the
  /// client's own work would have to wait for this call.
  void resign() { static_cast<void>(resign_within({})); }
  /// As above, waiting for at most `wait`: false when the time is up. The delete goes on in the background then.
  template <class Rep, class Period>
  [[nodiscard]] bool resign(std::chrono::duration<Rep, Period> wait) {
    return resign_within(after(wait));
  }

  /// Waits until the leadership is lost, as Lease::async_wait_lost.
  ///
  /// Signature     void(error_code)
  /// Completes     with success when state() is LeaseState::lost: at valid_until() at the latest.
  /// Errors        operation_aborted when cancelled, and when it resigns meanwhile
  /// Cancellation  terminal, partial, total.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_wait_lost(Token&& token = {}) {
    return lease_.async_wait_lost(std::forward<Token>(token));
  }

  /// Resigns and stands again, at the end of the wait queue, in one flight: all candidates that wait now lead before it
  /// does. A latch with a priority stands again without it, or the others would step back for it at once.
  ///
  /// Signature     void(error_code, Leadership)
  /// Completes     with another Leadership, when it leads again.
  /// Errors        those of LeaderElection::async_lead; it has resigned all the same
  /// Cancellation  terminal, partial, total: it has resigned, and stands no more.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, Leadership)> Token = asio::deferred_t>
  auto async_step_back(Token&& token = {}) {
    return detail::initiate<void(error_code, Leadership), &detail::start_step_back>(std::forward<Token>(token),
                                                                                    candidate_, lease_.share());
  }

  /// As async_step_back, but blocks. Throws boost::system::system_error: its errors; Error::blocking_in_handler where
  /// the client's own work would have to wait for this call.
  [[nodiscard]] Leadership step_back();

  /// The lease by which it leads; it leads nothing afterwards. For code that treats leaderships and locks alike.
  [[nodiscard]] Lease into_lease() && noexcept { return std::move(lease_); }

 private:
  bool resign_within(Deadline deadline);

  Lease lease_;
  std::shared_ptr<detail::Candidate> candidate_;
};

}  // namespace zklock
