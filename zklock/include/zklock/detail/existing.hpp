// Refusals by exceptions: of empty handles, and of bad calls.
#pragma once

#include <zklock/error.hpp>

#include <boost/system/system_error.hpp>

#include <string>

namespace zklock::detail {

/// Also for a result of a failed operation, which is an empty object.
inline constexpr char empty_handle[] = "this object is empty: it never got anything, or it was moved from";

[[noreturn]] inline void refuse(error_code error, const std::string& why) {
  throw boost::system::system_error{error, why};
}

/// Returns the object of the handle. Throws Error::invalid_state if the handle is empty or was moved from.
template <class Handle>
auto& existing(const Handle& handle) {
  if (!handle) refuse(make_error_code(Error::invalid_state), empty_handle);
  return *handle;
}

}  // namespace zklock::detail
