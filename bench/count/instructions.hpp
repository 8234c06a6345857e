// Instructions under callgrind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace zklock::bench {

/// A debug build has other counts.
#ifdef NDEBUG
inline constexpr const char* instructions_metric = "instructions";
#else
inline constexpr const char* instructions_metric = "debug-instructions";
#endif

/// For a process that runs under callgrind: counts from start to stop, on all threads.
void start_instructions();
void stop_instructions();

/// Runs `program workload server locks` under callgrind. std::nullopt if there is no valgrind; a line of output says
/// so. Throws std::runtime_error if it fails.
std::optional<std::uint64_t> count_instructions(const std::string& program, const std::string& workload,
                                                const std::string& server, int locks);

}  // namespace zklock::bench
