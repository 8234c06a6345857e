// Which errors a candidacy and a watch of leaders survive.
#pragma once

#include <zklock/error.hpp>
#include <zklock/recipe_kit/retry_loop.hpp>

#include <chrono>

namespace zklock::detail {

/// Errors of an operation that a lost link or session explains, so that the same may succeed later.
[[nodiscard]] inline bool is_passing(error_code error) noexcept {
  return may_try_again(error) || error == Error::not_connected;
}

/// How long to wait after a passing error. Most of them come after a long wait for a connection.
inline constexpr std::chrono::milliseconds pause_after_trouble{100};

/// The error with which a stream ends.
[[nodiscard]] inline error_code end_of_stream(error_code error) noexcept {
  return error == Error::closed ? make_error_code(Error::closing) : error;
}

}  // namespace zklock::detail
