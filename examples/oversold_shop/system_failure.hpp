// How a system call fails.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

namespace shop {

/// Throws what errno says.
[[noreturn]] inline void fail(const std::string& what) {
  throw std::system_error{errno, std::generic_category(), what};
}

}  // namespace shop
