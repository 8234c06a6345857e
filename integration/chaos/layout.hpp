// The constants that the campaign's processes share.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace zklock::chaos {

/// The node that holders of a lock write to, behind their lease's guard. The servers' log then has a transaction at
/// which they held the lock.
inline constexpr const char* marks = "/marks";
/// All locks are below it: "mutex0", "rw0", "permits0", "single0", "latch0", "confirmed0", "silent0", and so on.
inline constexpr const char* locks = "/locks/";
/// How many locks of each kind there are, and how many permits each semaphore has.
inline constexpr std::uint64_t lines = 8;
inline constexpr std::int32_t permits = 3;

/// What the processes keep and follow beside the locks: a node of each process, the group of all, the tree that each has
/// a copy of, and the counts "0", "1", and so on.
inline constexpr const char* kept_root = "/kept";
inline constexpr const char* group_root = "/group";
inline constexpr const char* tree_root = "/tree";
inline constexpr const char* counts_root = "/counts";
inline constexpr std::uint64_t shared_counts = 2;

/// For how long clients keep the locks "confirmed0", "silent0", and so on.
inline constexpr std::chrono::milliseconds kept_for{8'000};

/// Whether the clients keep that lock, and ask the server at each grant.
inline bool is_kept_confirmed(std::string_view line) { return line.find("/confirmed") != std::string_view::npos; }
/// Whether they keep it, and do not ask: one node, and one token, of many grants.
inline bool is_kept_silent(std::string_view line) { return line.find("/silent") != std::string_view::npos; }
inline bool is_kept(std::string_view line) { return is_kept_confirmed(line) || is_kept_silent(line); }
/// Whether the nodes of that lock have Kazoo's names, not Curator's: half of the kept locks, those with odd numbers.
inline bool has_kazoos_names(std::string_view line) { return is_kept(line) && (line.back() - '0') % 2 == 1; }

/// How many permits the semaphore of that path, or of that directory below, has. A semaphore mutex has one.
inline std::size_t permits_of(std::string_view line) {
  return line.find("single") != std::string_view::npos ? 1 : std::size_t{permits};
}

}  // namespace zklock::chaos
