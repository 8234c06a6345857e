// How the blocking calls of the locks fail.
#pragma once

#include <zklock/error.hpp>

#include <boost/system/system_error.hpp>

#include <string>

namespace zklock::detail {

/// Throws the error; its text names the lock's path.
[[noreturn]] inline void fail_lock(error_code error, const std::string& path) {
  throw boost::system::system_error{error, "lock " + path};
}

}  // namespace zklock::detail
