// The errors of locks, semaphores and leases.
#pragma once

#include <zklock/error.hpp>

#include <type_traits>

namespace zklock {

/// Why an operation on a lock failed, if the reason is the lock; failures of ZooKeeper are an Error. docs/errors.md
/// says what each one means and what to do about it.
///
/// not_owner compares equal to boost::system::errc::operation_not_permitted, as with the standard mutexes.
enum class LockError : int {
  lock_lost = 2,           ///< the lock's node or session is gone: another client may hold the lock by now
  not_owner = 3,           ///< released by an owner that does not hold it
  sequence_exhausted = 5,  ///< the lock's directory is near the end of its 2^31 sequence numbers; let it be deleted
  too_many_reentries = 6,
  invalid_lock_path = 21,
  invalid_permits = 31,
  mixed_lock_kinds = 32,  ///< two of mutex, read/write lock and latch on one path: they would not exclude each other
};

[[nodiscard]] const ErrorCategory& lock_error_category() noexcept;
[[nodiscard]] error_code make_error_code(LockError error) noexcept;

}  // namespace zklock

template <>
struct boost::system::is_error_code_enum<zklock::LockError> : std::true_type {};
