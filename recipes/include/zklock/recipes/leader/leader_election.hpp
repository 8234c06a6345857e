// What LeaderLatch and LeaderSelector have in common.
#pragma once

#include <zklock/client.hpp>
#include <zklock/recipe_kit/wait_policy.hpp>
#include <zklock/recipes/leader/candidacy.hpp>
#include <zklock/recipes/leader/leader.hpp>
#include <zklock/recipes/leader/leadership.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zklock {

namespace detail {
void start_lead(std::shared_ptr<Candidate> candidate, WaitPolicy wait, Handler<Leadership> handler);
void start_list_candidates(std::shared_ptr<Candidate> candidate, Handler<std::vector<Leader>> handler);
}  // namespace detail

/// One leader at a time among all processes that use the same path, first come, first served: the operations of
/// LeaderLatch and LeaderSelector, which differ in the names of their nodes. Each async_lead is a candidate of its own.
///
/// A handle: copies are the same election, and it may be destroyed before its leaderships and operations end.
/// Threads: any thread may call anything but the destructor.
class LeaderElection {
 public:
  [[nodiscard]] const std::string& path() const;
  /// What this process's nodes have as data.
  [[nodiscard]] const std::string& id() const;

  /// Stands, and completes with a Leadership when it leads.
  ///
  /// Signature     void(error_code, Leadership)
  /// Completes     when every candidate ahead in the queue is gone. The operation survives a lost link. If the session
  ///               is lost, so is the queue position, and the attempt starts over, as often as the client's retry
  ///               policy allows.
  /// Errors        Error::not_connected (no connection within the client's connection_timeout), Error::connection_loss,
  ///               Error::session_expired (too often), Error::auth_failed, Error::no_auth, Error::closed,
  ///               Error::closing, LockError::sequence_exhausted, Error::no_node (the directory is deleted again and
  ///               again), Error::no_children_for_ephemerals (the path is an ephemeral node), LockError::lock_lost (the
  ///               node is deleted again and again), LockError::mixed_lock_kinds (this Client has a lock of another
  ///               kind on the path), Error::too_many_watches, Error::quota_exceeded, Error::payload_too_large (the
  ///               id), Error::protocol_error (malformed reply), operation_aborted
  /// Cancellation  terminal, partial, total: all leave no trace.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, Leadership)> Token = asio::deferred_t>
  auto async_lead(Token&& token = {}) const {
    return initiate_lead(detail::WaitPolicy{}, std::forward<Token>(token));
  }
  /// As above, for at most `wait` in all. Zero or less: one try, without waiting in the queue.
  ///
  /// Signature     void(error_code, Leadership)
  /// Errors        besides the above Error::timed_out: others lead. What does not lead leaves no trace.
  template <class Rep, class Period, asio::completion_token_for<void(error_code, Leadership)> Token = asio::deferred_t>
  auto async_lead(std::chrono::duration<Rep, Period> wait, Token&& token = {}) const {
    return initiate_lead(detail::WaitPolicy::of(wait), std::forward<Token>(token));
  }
  /// As async_lead, but blocks. Throws boost::system::system_error: its errors; Error::blocking_in_handler where the
  /// client's own work would have to wait for this call.
  [[nodiscard]] Leadership lead() const { return std::move(*lead_within({})); }
  /// As above, for at most `wait`: std::nullopt when others lead for that long. Zero or less: one try.
  template <class Rep, class Period>
  [[nodiscard]] std::optional<Leadership> lead(std::chrono::duration<Rep, Period> wait) const {
    return lead_within(detail::WaitPolicy::of(wait));
  }

  /// Stands until the stream is destroyed; begins at once.
  [[nodiscard]] CandidacyStream stand() const;
  /// Tells which candidate leads; takes no part.
  [[nodiscard]] LeaderStream leaders() const;

  /// Lists the candidates in the order of the queue, the leader first.
  ///
  /// Signature     void(error_code, std::vector<Leader>)
  /// Completes     when the nodes that were listed have been read; a node that is deleted in between is left out. Lost
  ///               links and sessions are survived as often as the client's retry policy allows.
  /// Errors        Error::timed_out (not done within the client's operation_timeout), Error::not_connected (no
  ///               connection within its connection_timeout), Error::connection_loss, Error::session_expired and
  ///               Error::operation_timeout (too often), Error::auth_failed, Error::no_auth, Error::closed,
  ///               Error::closing, operation_aborted; a path that does not exist gives an empty list
  /// Cancellation  terminal, partial, total.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, std::vector<Leader>)> Token = asio::deferred_t>
  auto async_participants(Token&& token = {}) const {
    return detail::initiate<void(error_code, std::vector<Leader>), &detail::start_list_candidates>(
        std::forward<Token>(token), candidate_);
  }
  /// As above, but blocks. Throws boost::system::system_error: the errors of async_participants;
  /// Error::blocking_in_handler where the client's own work would have to wait for this call.
  [[nodiscard]] std::vector<Leader> participants() const;

 protected:
  explicit LeaderElection(std::shared_ptr<detail::Candidate> candidate) noexcept : candidate_{std::move(candidate)} {}

 private:
  template <class Token>
  auto initiate_lead(detail::WaitPolicy wait, Token&& token) const {
    return detail::initiate<void(error_code, Leadership), &detail::start_lead>(std::forward<Token>(token), candidate_,
                                                                               wait);
  }
  [[nodiscard]] std::optional<Leadership> lead_within(detail::WaitPolicy wait) const;

  std::shared_ptr<detail::Candidate> candidate_;
};

}  // namespace zklock
