// How the blocking calls of the locks fail.
#pragma once

#include <zklock/detail/existing.hpp>
#include <zklock/error.hpp>

#include <string>

namespace zklock::detail {

/// Throws the error; its text names the lock's path.
[[noreturn]] inline void fail_lock(error_code error, const std::string& path) { refuse(error, "lock " + path); }

}  // namespace zklock::detail
