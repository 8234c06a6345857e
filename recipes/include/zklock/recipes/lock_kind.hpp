// The kinds of locks that stand in line for a path.
#pragma once

#include <cstdint>
#include <string_view>

namespace zklock {

/// Mutexes make one line; readers and writers together make another.
enum class LockKind : std::uint8_t {
  mutex,  ///< InterProcessMutex
  read,   ///< the read lock of an InterProcessReadWriteLock
  write   ///< the write lock of one
};

[[nodiscard]] std::string_view to_string(LockKind kind) noexcept;

}  // namespace zklock
