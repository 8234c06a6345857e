// The names of errors, for programs to read.
#pragma once

#include <zklock/error.hpp>

#include <string_view>

namespace zklock::detail {

/// "session_expired"; of an error that is not zklock's, the name of its category.
[[nodiscard]] std::string_view error_name(error_code error) noexcept;

}  // namespace zklock::detail
