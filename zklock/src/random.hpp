// Randomness for back-off and jitter. Not for secrets.
#pragma once

#include <cstdint>

namespace zklock {

[[nodiscard]] std::uint64_t random_bits();

}  // namespace zklock
