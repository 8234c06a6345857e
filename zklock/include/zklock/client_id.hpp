// The name of a client for people and other clients.
#pragma once

#include <zklock/path.hpp>

#include <new>
#include <string>
#include <string_view>

namespace zklock {

/// Returns "<host>-<pid>-<8 hex digits>", new at each call.
[[nodiscard]] std::string make_client_id();

/// Throws boost::system::system_error with Error::invalid_client_id unless `id` has 1 to 128 bytes of UTF-8 without ':'
/// and control characters.
void validate_client_id(std::string_view id);
/// Returns the first flaw of `id`, or none.
[[nodiscard]] Flaw validate_client_id(std::string_view id, std::nothrow_t);

}  // namespace zklock
