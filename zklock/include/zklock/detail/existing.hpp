// Refusals by exceptions: of empty handles, and of bad calls.
#pragma once

#include <zklock/error.hpp>

#include <boost/system/system_error.hpp>

#include <string>

namespace zklock::detail {

[[noreturn]] inline void refuse(error_code error, const std::string& why) {
  throw boost::system::system_error{error, why};
}

/// Returns the object of the handle. Throws Error::empty_object if the handle is empty, as a result of a failed
/// operation is, or was moved from.
template <class Handle>
auto& existing(const Handle& handle) {
  if (!handle) throw boost::system::system_error{make_error_code(Error::empty_object)};
  return *handle;
}

}  // namespace zklock::detail
