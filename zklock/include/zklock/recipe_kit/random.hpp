// Random numbers for back-off and jitter. Not for secrets.
#pragma once

#include <cstdint>

namespace zklock {

[[nodiscard]] std::uint64_t random_bits();

/// Makes this thread's numbers follow from the seed, as a simulation needs.
void seed_random_bits(std::uint64_t seed);

}  // namespace zklock
