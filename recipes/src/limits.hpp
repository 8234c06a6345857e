// What an acquire may take, and what it says when that is not enough.
#pragma once

#include <zklock/client.hpp>
#include <zklock/recipes/inter_process_mutex.hpp>

#include <string>

namespace zklock {

/// All members trivial: coroutines take it (docs/contributing.md, compiler traps).
struct Limits {
  Deadline deadline{};
  bool try_once = false;  ///< give up at once where others are ahead
  Error at_deadline = Error::timed_out;
};

/// One try does not wait for others, only for ZooKeeper, and so for no longer than the client waits for a connection:
/// when that time is up the connection was lost meanwhile.
[[nodiscard]] inline Limits limits_of(const detail::Patience& patience, const ClientHandle& client) {
  using Kind = detail::Patience::Kind;
  switch (patience.kind) {
    case Kind::forever: break;
    case Kind::until: return {patience.deadline};
    case Kind::try_once: {
      const bool given = patience.deadline != Clock::time_point{};
      const Deadline deadline = given ? Deadline{patience.deadline} : after(client.config().connection_timeout);
      return {deadline, true, Error::connection_loss};
    }
  }
  return {};
}

/// For the exception of a blocking call: `what`, and why there is no connection if that is the trouble.
[[nodiscard]] inline std::string explain(std::string what, error_code error, const ClientHandle& client) {
  if (error != Error::not_connected && error != Error::connection_loss) return what;
  const std::string trouble = client.connection_trouble();
  return trouble.empty() ? what : what + " (" + trouble + ")";
}

}  // namespace zklock
