// What the campaign's processes agree on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace zklock::chaos {

/// What holders of a lock write to, behind their lease's guard: the servers' log then has a transaction at which they
/// held it.
inline constexpr const char* marks = "/marks";
/// All locks are below: "mutex0", "rw0", "permits0", "single0", and so on.
inline constexpr const char* locks = "/locks/";
/// How many there are of each kind, and permits of each semaphore.
inline constexpr std::uint64_t lines = 8;
inline constexpr std::int32_t permits = 3;

/// How many the semaphore of that path has, or of that directory below: a semaphore mutex has one.
inline std::size_t permits_of(std::string_view line) {
  return line.find("single") != std::string_view::npos ? 1 : std::size_t{permits};
}

}  // namespace zklock::chaos
