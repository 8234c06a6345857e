// What a test does less often with a sanitizer.
#pragma once

#include <algorithm>

namespace zklock::test {

#if defined(ZKLOCK_SANITIZED)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// How often a test does what it does many times, so that rare interleavings come up: `times`, or an eighth of it with
/// a sanitizer: each is many times slower there, and one sight of an error is enough.
constexpr int repeats(int times) { return sanitized ? std::max(1, times / 8) : times; }

}  // namespace zklock::test
