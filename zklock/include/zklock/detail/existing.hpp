// Checks for empty handles.
#pragma once

#include <zklock/error.hpp>

#include <boost/system/system_error.hpp>

namespace zklock::detail {

/// Also for a result of a failed operation, which is an empty object.
inline constexpr char empty_handle[] = "this object is empty: it never got anything, or it was moved from";

/// Returns the object of the handle. Throws Error::invalid_state if the handle is empty or was moved from.
template <class Handle>
auto& existing(const Handle& handle) {
  if (!handle) throw boost::system::system_error{make_error_code(Error::invalid_state), empty_handle};
  return *handle;
}

}  // namespace zklock::detail
