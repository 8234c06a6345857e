// Handles that refer to nothing.
#pragma once

#include <zklock/error.hpp>

#include <boost/system/system_error.hpp>

namespace zklock::detail {

/// Of one that an operation has failed with, too: it gives an empty one.
inline constexpr char empty_handle[] = "this object is empty: it never got anything, or it was moved from";

/// What the handle refers to. Throws Error::invalid_state for one that was moved from, or never had anything.
template <class Handle>
auto& existing(const Handle& handle) {
  if (!handle) throw boost::system::system_error{make_error_code(Error::invalid_state), empty_handle};
  return *handle;
}

}  // namespace zklock::detail
