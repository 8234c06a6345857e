// Numbers of sessions, as in ZooKeeper's own logs.
#pragma once

#include <cstdint>
#include <string>

namespace zklock::tools {

/// "0x1000a2b".
[[nodiscard]] std::string to_hexadecimal(std::int64_t number);

}  // namespace zklock::tools
