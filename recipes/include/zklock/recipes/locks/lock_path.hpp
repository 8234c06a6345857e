// The directory of a lock.
#pragma once

#include <zklock/recipes/locks/lock_error.hpp>

#include <string_view>

namespace zklock {

/// As validate_path(); besides, the path is not "/", not under "/zookeeper", and has at most 1000 bytes, since every
/// watch under it is sent again at each reconnect. Throws boost::system::system_error with
/// LockError::invalid_lock_path; its text has the offset and the reason.
void validate_lock_path(std::string_view path);

}  // namespace zklock
