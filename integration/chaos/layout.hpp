// What the campaign's processes agree on.
#pragma once

#include <cstdint>

namespace zklock::chaos {

/// What holders of a lock write to, behind their lease's guard: the servers' log then has a transaction at which they
/// held it.
inline constexpr const char* marks = "/marks";
/// All locks are below: "mutex0", "rw0", "permits0", "single0", and so on.
inline constexpr const char* locks = "/locks/";
/// How many there are of each kind, and permits of each semaphore.
inline constexpr std::uint64_t lines = 8;
inline constexpr std::int32_t permits = 3;

}  // namespace zklock::chaos
