// Who holds a lock, as its node says it: "client-id:count".
#pragma once

#include <zklock/error.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zklock {

/// "<host>-<pid>-<8 hex digits>": new at each call.
[[nodiscard]] std::string make_client_id();

/// Throws boost::system::system_error with Error::invalid_client_id unless `id` is 1 to 128 bytes of UTF-8 without ':'
/// and control characters.
void validate_client_id(std::string_view id);

/// The data of a lock's node. Advisory: it tells a reader who waits or holds, and how many times over.
struct LockData {
  std::string client_id;
  std::uint32_t count = 1;

  friend bool operator==(const LockData&, const LockData&) = default;
};

[[nodiscard]] std::string format_lock_data(const LockData& data);

/// Nothing if `data` is not a client id, a ':' and a count from 1 to 2^31 - 1 in decimal digits without a leading zero:
/// somebody else's node.
[[nodiscard]] std::optional<LockData> parse_lock_data(std::string_view data);

}  // namespace zklock
