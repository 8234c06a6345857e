// The constants that the campaign's processes share.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace zklock::chaos {

/// The node that holders of a lock write to, behind their lease's guard. The servers' log then has a transaction at
/// which they held the lock.
inline constexpr const char* marks = "/marks";
/// All locks are below it: "mutex0", "rw0", "permits0", "single0", and so on, also the elections "latch0" and
/// "selector0"; and those that clients keep:
/// "confirmed0" and "silent0", mutexes; "silent_rw0", read/write locks; "confirmed_single0" and "silent_single0",
/// semaphore mutexes.
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
/// How many elections of each kind there are: few, so that they have followers; and those whose leaders each process
/// shows.
inline constexpr std::uint64_t elections = 2;
inline constexpr std::array<std::string_view, 2> shown_elections{"/locks/latch0", "/locks/selector1"};

/// For how long clients keep the locks that they keep.
inline constexpr std::chrono::milliseconds kept_for{8'000};

/// Whether the clients keep the nodes of that lock, in that directory, or on that path, and ask the server at each
/// grant. Of a semaphore mutex they keep the permit, and nothing in the queue before it.
inline bool is_kept_confirmed(std::string_view line) {
  return line.starts_with("/locks/confirmed") && line.find("/locks", 1) == std::string_view::npos;
}
/// Whether they keep them, and do not ask: one node, and one token, of many grants.
inline bool is_kept_silent(std::string_view line) {
  return line.starts_with("/locks/silent") && line.find("/locks", 1) == std::string_view::npos;
}
inline bool is_kept(std::string_view line) { return is_kept_confirmed(line) || is_kept_silent(line); }
inline bool is_kept_mutex(std::string_view line) { return is_kept(line) && line.find('_') == std::string_view::npos; }
/// Whether the nodes of that lock have Kazoo's names, not Curator's: half of the kept mutexes and of the selectors,
/// those with odd numbers.
inline bool has_kazoos_names(std::string_view line) {
  return (is_kept_mutex(line) || line.starts_with("/locks/selector")) && (line.back() - '0') % 2 == 1;
}
/// How many acquires of a client that keeps that lock may go ahead of another client, in each keeping: some, where it
/// is kept silently and has one of the numbers from 4 on.
inline int hand_overs_of(std::string_view line) {
  return is_kept_silent(line) && static_cast<std::uint64_t>(line.back() - '0') >= lines / 2 ? 3 : 0;
}

/// How many permits the semaphore of that path, or of that directory below, has. A semaphore mutex has one.
inline std::size_t permits_of(std::string_view line) {
  return line.find("single") != std::string_view::npos ? 1 : std::size_t{permits};
}

}  // namespace zklock::chaos
