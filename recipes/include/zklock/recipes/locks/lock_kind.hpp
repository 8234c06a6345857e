// The kinds of locks and of their nodes.
#pragma once

#include <cstdint>
#include <string_view>

namespace zklock {

/// Mutexes form one wait queue; readers and writers together form another, and candidates of a LeaderLatch a third.
/// Permits form none.
enum class LockKind : std::uint8_t {
  mutex,   ///< InterProcessMutex, LeaderSelector
  read,    ///< the read lock of an InterProcessReadWriteLock
  write,   ///< the write lock of one
  permit,  ///< a permit of an InterProcessSemaphore
  latch    ///< LeaderLatch
};

[[nodiscard]] std::string_view to_string(LockKind kind) noexcept;

/// Whose names a lock's nodes have. Only clients that use the same names on a path see each other (docs/interop.md).
enum class LockNaming : std::uint8_t {
  curator,  ///< Curator's: "lock-", "__READ__", "__WRIT__"
  kazoo  ///< Kazoo's own: "__lock__" for Lock and WriteLock, "__rlock__" for ReadLock; directories are persistent nodes
};

}  // namespace zklock
