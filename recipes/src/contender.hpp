// One who wants a lock: the acquire loop.
#pragma once

#include "holding.hpp"

#include <zklock/client.hpp>
#include <zklock/detail/spawn.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace zklock {

/// What to stand in line for.
struct LockRequest {
  std::string directory;
  std::string_view marker;
  bool try_once = false;  ///< leave again at once if somebody is ahead
};

/// Stands in line until first, over as many sessions as the client's retry policy allows. Runs on the client's
/// executor.
[[nodiscard]] Awaitable<Result<Lease>> acquire(ClientHandle client, LockRequest request);

}  // namespace zklock
