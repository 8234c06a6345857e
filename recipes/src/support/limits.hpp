// The limits of an acquire, and the error when they are exceeded.
#pragma once

#include <zklock/client.hpp>
#include <zklock/recipe_kit/retry_loop.hpp>
#include <zklock/recipe_kit/wait_policy.hpp>

#include <string>

namespace zklock {

/// All members are trivial: coroutines take it as a parameter (docs/contributing.md, compiler traps).
struct Limits {
  Deadline deadline{};
  bool try_once = false;  ///< give up at once if others are ahead
  Error at_deadline = Error::timed_out;
};

/// One try does not wait for other contenders, only for ZooKeeper, and so for no longer than the client waits for a
/// connection: if that time has passed, the connection was lost meanwhile.
[[nodiscard]] inline Limits limits_of(const detail::WaitPolicy& wait, const ClientHandle& client) {
  using Kind = detail::WaitPolicy::Kind;
  switch (wait.kind) {
    case Kind::forever: break;
    case Kind::until: return {wait.deadline};
    case Kind::try_once: {
      const bool given = wait.deadline != Clock::time_point{};
      const Deadline deadline = given ? Deadline{wait.deadline} : after(client.config().connection_timeout);
      return {deadline, true, Error::connection_loss};
    }
  }
  return {};
}

/// The text for the exception of a blocking call: `what`, and why there is no connection if that is the reason.
[[nodiscard]] inline std::string explain(std::string what, error_code error, const ClientHandle& client) {
  if (error != Error::not_connected && error != Error::connection_loss) return what;
  const std::string trouble = client.connection_trouble();
  return trouble.empty() ? what : what + " (" + trouble + ")";
}

}  // namespace zklock
