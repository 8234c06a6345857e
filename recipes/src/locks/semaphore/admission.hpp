// The admission to a semaphore: pure decisions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace zklock {

enum class Admission {
  granted,  ///< the nodes are permits
  full,     ///< wait until a child is deleted
  missing   ///< one of the attempt's nodes is not in the list
};

/// Whether the attempt's nodes are permits, judged by the children of the directory of leases. Each child counts,
/// whichever program created it.
[[nodiscard]] Admission admit(const std::vector<std::string>& children, const std::vector<std::string>& own,
                              std::int32_t permits);

}  // namespace zklock
