// Randomness for back-off and jitter. Not for secrets.
#pragma once

#include <cstdint>

namespace zklock {

[[nodiscard]] std::uint64_t random_bits();

/// From here on this thread's numbers follow from the seed: a simulation's do.
void seed_random_bits(std::uint64_t seed);

}  // namespace zklock
