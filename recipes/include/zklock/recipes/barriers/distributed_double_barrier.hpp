// A barrier that a number of processes enter together and leave together.
#pragma once

#include <zklock/client.hpp>
#include <zklock/clock.hpp>
#include <zklock/recipe_kit/wait_policy.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace zklock {

class BarrierMembership;
class Session;

namespace detail {
class DoubleBarrierCore;
class BarrierMember;
const ClientHandle& home_of(const DoubleBarrierCore& barrier);
const Session& home_of(const BarrierMember& member);
void start_enter(std::shared_ptr<DoubleBarrierCore> barrier, WaitPolicy wait, Handler<BarrierMembership> handler);
void start_leave(std::shared_ptr<BarrierMember> member, Deadline deadline, Handler<> handler);
void start_wait_membership_lost(std::shared_ptr<BarrierMember> member, Handler<> handler);
void leave_in_background(const std::shared_ptr<BarrierMember>& member) noexcept;
}  // namespace detail

/// A process is in. Leaves in the background at the end of its life.
///
/// Threads: one at a time; any thread. The const functions may be called from any number of threads.
class [[nodiscard]] BarrierMembership {
 public:
  /// Is in nowhere.
  BarrierMembership() noexcept = default;
  explicit BarrierMembership(std::shared_ptr<detail::BarrierMember> member) noexcept : member_{std::move(member)} {}
  BarrierMembership(BarrierMembership&&) noexcept = default;
  BarrierMembership& operator=(BarrierMembership&& other) noexcept {
    if (this != &other) {
      detail::leave_in_background(member_);
      member_ = std::move(other.member_);
    }
    return *this;
  }
  ~BarrierMembership() { detail::leave_in_background(member_); }

  /// It has neither left nor lost its session: the others wait for it when they leave.
  [[nodiscard]] bool is_in() const noexcept { return Clock::now() < valid_until(); }
  [[nodiscard]] explicit operator bool() const noexcept { return is_in(); }
  /// It is in until then at least, whatever happens to the servers, the link or this process: Session::valid_until,
  /// which is kept ahead. time_point{} when it is lost or has left.
  [[nodiscard]] Clock::time_point valid_until() const noexcept;
  /// The full path of its node; empty if it never was in.
  [[nodiscard]] std::string node_path() const;

  /// Leaves, and waits until all of the round have left: those that were at the barrier when it opened. A member of a
  /// later round is not waited for, nor one that has joined late.
  ///
  /// Signature     void(error_code)
  /// Completes     when all others have left, or have lost their sessions; lost links are survived.
  /// Errors        Error::session_expired, auth_failed or closing if its session has ended before that, so that the
  ///               others do not wait for it any more; Error::invalid_state if it has left already; Error::no_auth,
  ///               operation_aborted
  /// Cancellation  terminal, partial, total: they end the wait. The leave goes on in the background.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_leave(Token&& token = {}) {
    return detail::initiate<void(error_code), &detail::start_leave>(std::forward<Token>(token), member_, Deadline{});
  }
  /// As above, waiting for at most `wait`. The leave goes on in the background when the time is up.
  ///
  /// Signature     void(error_code)
  /// Errors        besides the above Error::timed_out
  template <class Rep, class Period, asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_leave(std::chrono::duration<Rep, Period> wait, Token&& token = {}) {
    return detail::initiate<void(error_code), &detail::start_leave>(std::forward<Token>(token), member_, after(wait));
  }

  /// Waits until the session is over, so that the others do not wait for this member any more.
  ///
  /// Signature     void(error_code)
  /// Completes     with success, a ninth of the session timeout after valid_until() at the latest.
  /// Errors        operation_aborted when cancelled, and when it leaves meanwhile
  /// Cancellation  terminal, partial, total.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_wait_lost(Token&& token = {}) {
    return detail::initiate<void(error_code), &detail::start_wait_membership_lost>(std::forward<Token>(token), member_);
  }

  // As async_leave, but blocking: they throw boost::system::system_error with its errors, and
  // Error::blocking_in_handler on a thread that the client's work needs; Error::executor_not_running.

  void leave() { static_cast<void>(leave_within({})); }
  /// False: others are still in when the time is up.
  template <class Rep, class Period>
  [[nodiscard]] bool leave(std::chrono::duration<Rep, Period> wait) {
    return leave_within(after(wait));
  }

 private:
  bool leave_within(Deadline deadline);

  std::shared_ptr<detail::BarrierMember> member_;
};

/// Nobody is let in before `member_quantity` members are there, then all of them are; nobody leaves before all do.
/// Curator's DistributedDoubleBarrier and Kazoo's DoubleBarrier; docs/barriers.md says what is left of the promises if
/// they take part.
///
/// All or nobody: a member that was there when the barrier opened is let in, or its session ends, also if its time is up
/// at that moment. The barrier may be used again at once, by the same members or by others. More members than that may
/// come: they are let in with the others, or late, while one of the others is still in; or they are the next round.
///
/// Threads: any thread may call anything but the destructor.
class DistributedDoubleBarrier {
 public:
  static constexpr int max_members = 10'000;

  /// Throws boost::system::system_error: Error::invalid_path; Error::bad_arguments for a quantity below 1 or above
  /// max_members.
  DistributedDoubleBarrier(const ClientHandle& client, std::string path, int member_quantity);
  /// A temporary Client would be closed at once.
  template <class... Rest>
  DistributedDoubleBarrier(Client&&, Rest&&...) = delete;

  [[nodiscard]] const std::string& path() const;

  /// Enters. Each call is a member of its own.
  ///
  /// Signature     void(error_code, BarrierMembership)
  /// Completes     when so many are there. Lost links and sessions are survived: a lost session is as often followed by
  ///               a try on the next one as the client's retry policy allows. When the time is up, the server's answer
  ///               is waited for, for as long as the client waits for a connection (connection_timeout).
  /// Errors        Error::timed_out: too few were there, and it was not counted; Error::connection_loss or
  ///               session_expired: the time was up, and whether it was counted is not known; Error::not_connected (no
  ///               connection within the client's connection_timeout), Error::operation_timeout (too often),
  ///               Error::auth_failed, Error::no_auth, Error::closed, Error::closing, Error::too_many_watches,
  ///               operation_aborted (it may have been counted)
  /// Cancellation  terminal, partial, total: neither node nor watch is left.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <class Rep, class Period,
            asio::completion_token_for<void(error_code, BarrierMembership)> Token = asio::deferred_t>
  auto async_enter(std::chrono::duration<Rep, Period> wait, Token&& token = {}) const {
    return initiate_enter(detail::WaitPolicy::of(wait), std::forward<Token>(token));
  }
  template <asio::completion_token_for<void(error_code, BarrierMembership)> Token = asio::deferred_t>
  auto async_enter(Token&& token = {}) const {
    return initiate_enter(detail::WaitPolicy{}, std::forward<Token>(token));
  }

  // The same, blocking: they throw boost::system::system_error with the errors above, and Error::blocking_in_handler on
  // a thread that the client's work needs; Error::executor_not_running.

  [[nodiscard]] BarrierMembership enter() const { return *enter(detail::WaitPolicy{}); }
  /// Empty: too few were there when the time was up, and it was not counted.
  template <class Rep, class Period>
  [[nodiscard]] std::optional<BarrierMembership> enter(std::chrono::duration<Rep, Period> wait) const {
    return enter(detail::WaitPolicy::of(wait));
  }

 private:
  template <class Token>
  auto initiate_enter(detail::WaitPolicy wait, Token&& token) const {
    return detail::initiate<void(error_code, BarrierMembership), &detail::start_enter>(std::forward<Token>(token),
                                                                                       core_, wait);
  }
  std::optional<BarrierMembership> enter(detail::WaitPolicy wait) const;

  std::shared_ptr<detail::DoubleBarrierCore> core_;
};

}  // namespace zklock
