// Handles that were moved from.
#pragma once

#include <zklock/error.hpp>

#include <boost/system/system_error.hpp>

namespace zklock::detail {

/// What the handle refers to. Throws Error::invalid_state for one that was moved from, or never had anything.
template <class Handle>
auto& existing(const Handle& handle) {
  if (!handle) throw boost::system::system_error{make_error_code(Error::invalid_state), "used after it was moved from"};
  return *handle;
}

}  // namespace zklock::detail
