// The kinds of locks, and of nodes that stand for them.
#pragma once

#include <cstdint>
#include <string_view>

namespace zklock {

/// Mutexes make one line; readers and writers together make another. Permits make none.
enum class LockKind : std::uint8_t {
  mutex,  ///< InterProcessMutex
  read,   ///< the read lock of an InterProcessReadWriteLock
  write,  ///< the write lock of one
  permit  ///< one of an InterProcessSemaphore's
};

[[nodiscard]] std::string_view to_string(LockKind kind) noexcept;

}  // namespace zklock
