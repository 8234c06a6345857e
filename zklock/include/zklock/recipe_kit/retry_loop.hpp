// The one loop by which operations are retried.
#pragma once

#include <zklock/client.hpp>
#include <zklock/recipe_kit/spawn.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace zklock {

/// How often work is begun again that other clients undo at once, such as a directory that is reaped as soon as it is
/// made [F9, F79].
inline constexpr int max_rounds = 16;

}  // namespace zklock

namespace zklock::detail {

class RequestSlots;

/// Whether another try, on this session or another one, may succeed.
[[nodiscard]] inline bool may_try_again(error_code error) noexcept {
  return is_retryable(error) || error == Error::session_expired;
}

/// Counts an operation's tries, and waits between them as the client's policy says, within the client's limit.
///
///   for (RetryLoop loop{client, "get_data", path, deadline};;) {
///     auto session = co_await loop.session();
///     if (!session) co_return session.error();
///     ... a try ...
///     if (const error_code final = co_await loop.next(error)) co_return final;
///   }
class RetryLoop {
 public:
  /// `operation` and `path` are for the log; both must outlive the loop. If there is a deadline, the code that runs the
  /// coroutine cancels it then.
  RetryLoop(ClientHandle client, std::string_view operation, const std::string& path, Deadline deadline);
  ~RetryLoop();
  RetryLoop(const RetryLoop&) = delete;
  RetryLoop& operator=(const RetryLoop&) = delete;
  /// For operations with short tries of one request or a few: limits the tries under way at once to the session's
  /// slots.
  void use_slots();

  /// Returns the session for the next try, connected. Fails with not_connected if the session does not connect in time
  /// or before a cancellation. After the first try it also waits, once connected, for its turn among all retries of the
  /// client, so that the operations that waited for the connection do not all begin at once. Fails with the last try's
  /// error if that turn would come after the deadline.
  [[nodiscard]] Awaitable<Result<Session>> session();

  /// To be called after a retryable error: waits as the policy says. Returns no error when the next try may begin;
  /// otherwise the final error, which is `error` or operation_aborted.
  [[nodiscard]] Awaitable<error_code> next(error_code error);

 private:
  ClientHandle client_;
  std::string_view operation_;
  const std::string& path_;
  Deadline deadline_;
  Clock::time_point start_ = Clock::now();
  int retries_ = 0;
  error_code last_error_{};
  std::shared_ptr<RequestSlots> slots_;
  std::shared_ptr<void> slot_;  // of the current try
};

/// The loop for work that may be repeated without harm, such as reads: `attempt(session)` is an Awaitable<Result<T>>,
/// which is made until it succeeds or fails for good, on sessions for `path`. `operation` must outlive the call; of the
/// deadline RetryLoop's contract is true. In a co_await expression `attempt` must be a named variable, not a lambda on
/// the spot, which g++ 12 destroys twice.
template <class T, class Attempt>
[[nodiscard]] Awaitable<Result<T>> retried(ClientHandle client, std::string_view operation, std::string path,
                                           Deadline deadline, Attempt attempt) {
  for (RetryLoop loop{std::move(client), operation, path, deadline};;) {
    const auto session = co_await loop.session();
    if (!session) co_return session.error();
    auto outcome = co_await attempt(*session);
    if (outcome || !may_try_again(outcome.error())) co_return std::move(outcome);
    if (const error_code final = co_await loop.next(outcome.error())) co_return final;
  }
}

}  // namespace zklock::detail
