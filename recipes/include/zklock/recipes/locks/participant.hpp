// A holder of a lock or a waiter, as its node describes it.
#pragma once

#include <zklock/recipes/locks/lock_kind.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace zklock {

/// A client that holds a lock or waits for it.
struct LockParticipant {
  std::string node_path;
  LockKind kind = LockKind::mutex;
  std::int32_t sequence = 0;
  std::string client_id;    ///< empty if the data is not zklock's, for example a JVM's
  std::uint32_t count = 0;  ///< how many times the owner has entered the lock; 0 if the data is not zklock's
  std::int64_t session_id = 0;
  std::int64_t fencing_token = 0;  ///< the node's czxid; a downgraded reader's Lease has its writer's token
  std::chrono::system_clock::time_point since;  ///< on the server's clock
  bool revocation_requested = false;            ///< by async_attempt_revoke or Curator's Revoker; hides id and count
};

}  // namespace zklock
