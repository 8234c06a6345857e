// The one loop of an operation that is tried again.
#pragma once

#include <zklock/client.hpp>
#include <zklock/detail/spawn.hpp>

#include <string>
#include <string_view>

namespace zklock::detail {

/// Counts one operation's tries, and waits between them as the client's policy says, within the client's limit.
///
///   for (RetryLoop loop{client, "get_data", path};;) {
///     auto session = co_await loop.session();
///     if (!session) co_return session.error();
///     ... a try ...
///     if (const error_code final = co_await loop.next(error)) co_return final;
///   }
class RetryLoop {
 public:
  /// `operation` and `path` are for the log; both must outlive the loop.
  RetryLoop(ClientHandle client, std::string_view operation, const std::string& path);

  /// The session for the next try, connected. After the first one it waits for its turn among all retries of the client
  /// once the connection is there, so that those who have waited for it do not all begin at once.
  [[nodiscard]] Awaitable<Result<Session>> session();

  /// After a failure that may pass: waits as the policy says, and gives no error when the time for another try has
  /// come; else the error to give up with, which is `error` or operation_aborted.
  [[nodiscard]] Awaitable<error_code> next(error_code error);

 private:
  ClientHandle client_;
  std::string_view operation_;
  const std::string& path_;
  Clock::time_point start_ = Clock::now();
  int retries_ = 0;
};

}  // namespace zklock::detail
