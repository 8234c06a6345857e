// The data of a lock's node: "client-id:count".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zklock {

/// The data of a lock's node. Advisory: it tells a reader which client waits or holds, and how many times it has
/// entered.
struct LockData {
  std::string client_id;
  std::uint32_t count = 1;

  friend bool operator==(const LockData&, const LockData&) = default;
};

[[nodiscard]] std::string format_lock_data(const LockData& data);

/// std::nullopt if `data` is not a client id, a ':' and a count from 1 to 2^31 - 1 in decimal digits without a leading
/// zero: the node is another program's.
[[nodiscard]] std::optional<LockData> parse_lock_data(std::string_view data);

}  // namespace zklock
