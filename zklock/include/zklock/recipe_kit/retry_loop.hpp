// The one loop of an operation that is tried again.
#pragma once

#include <zklock/client.hpp>
#include <zklock/detail/spawn.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace zklock::detail {

class RequestSlots;

/// Counts one operation's tries, and waits between them as the client's policy says, within the client's limit.
///
///   for (RetryLoop loop{client, "get_data", path, deadline};;) {
///     auto session = co_await loop.session();
///     if (!session) co_return session.error();
///     ... a try ...
///     if (const error_code final = co_await loop.next(error)) co_return final;
///   }
class RetryLoop {
 public:
  /// `operation` and `path` are for the log; both must outlive the loop. With a deadline, whoever runs the coroutine
  /// cancels it then.
  RetryLoop(ClientHandle client, std::string_view operation, const std::string& path, Deadline deadline);
  ~RetryLoop();
  RetryLoop(const RetryLoop&) = delete;
  RetryLoop& operator=(const RetryLoop&) = delete;
  /// Its tries are short, a request or some: no more of them are made at once than the session has slots for.
  void use_slots();

  /// The session for the next try, connected; not_connected if there is none in time, or before it is cancelled. After
  /// the first one it waits for its turn among all retries of the client once the connection is there, so that those
  /// who have waited for it do not all begin at once; the last try's error if that turn comes after the deadline.
  [[nodiscard]] Awaitable<Result<Session>> session();

  /// After a failure that may pass: waits as the policy says, and gives no error when the time for another try has
  /// come; else the error to give up with, which is `error` or operation_aborted.
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
  std::shared_ptr<void> slot_;  // of the try that is made
};

}  // namespace zklock::detail
