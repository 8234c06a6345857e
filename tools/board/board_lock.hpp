// One lock of a LockBoard.
#pragma once

#include "wait_queues.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace zklock::tools {

/// Whether the participant's node was read. Otherwise only its name is known: its path, kind and number.
[[nodiscard]] inline bool is_read(const LockParticipant& one) noexcept { return one.fencing_token != 0; }

/// A lock, in short.
struct BoardLock {
  std::string path;
  std::string kind;  ///< "mutex", "read-write", "kazoo", "semaphore", or "mixed" for several wait queues on one path
  std::size_t holders = 0;
  std::size_t waiting = 0;
  LockParticipant holder;                      ///< the first one; see is_read()
  LockParticipant waiter;                      ///< the first one
  std::vector<std::string> holder_nodes;       ///< the holders' paths, the first ones
  std::chrono::system_clock::time_point seen;  ///< when it was listed last
  bool readable = true;
  std::uint64_t revision = 0;  ///< the board's revision at the last change
};

/// A holder or a waiter.
struct BoardPlace {
  LockParticipant one;
  bool holds = false;
};

/// What was seen to happen to a lock.
struct BoardEvent {
  enum class What : std::uint8_t { granted, released };
  std::chrono::system_clock::time_point at;  ///< when it was seen
  What what = What::granted;
  LockParticipant one;  ///< the holder; see is_read()
  /// The holder was seen to hold it for at least so long; for released only.
  std::chrono::milliseconds held{};
};

}  // namespace zklock::tools
