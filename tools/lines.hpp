// The lines below a path, as the program looks at them.
#pragma once

#include <zklock/client.hpp>
#include <zklock/recipes/inter_process_mutex.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::tools {

/// Those who hold one lock or wait for it, first in line first.
using Line = std::vector<Participant>;

/// Where a semaphore's permits are, below its path; Curator's names.
inline constexpr std::string_view leases_name = "leases";
/// Where those stand in line who want some.
inline constexpr std::string_view locks_name = "locks";

/// The lines of a lock's directory that are not empty: that of the mutex, that of readers and writers; the permits of a
/// semaphore, if it is the directory of those. Blocks.
[[nodiscard]] std::vector<Line> read_lines(const ClientHandle& client, const std::string& directory);

/// What a semaphore has below its path.
struct SemaphoreLines {
  Line permits;  ///< oldest first
  Line waiting;  ///< the first of them may have nodes among the permits already, which it does not hold yet
};

/// Nobody where there is no semaphore. Blocks.
[[nodiscard]] SemaphoreLines read_semaphore(const ClientHandle& client, const std::string& path);

/// Whether the permit is held: the first who waits has not made it since it stands in line.
[[nodiscard]] bool is_held_permit(const SemaphoreLines& semaphore, const Participant& permit) noexcept;

/// Whether `ahead` keeps `behind`, of the same line, waiting.
[[nodiscard]] bool keeps_waiting(const Participant& ahead, const Participant& behind) noexcept;

/// Whether nobody keeps the one at `index` waiting.
[[nodiscard]] bool is_holder(const Line& line, std::size_t index) noexcept;

/// The node goes with a session. A persistent node has none, and the owners that ZooKeeper writes for containers and
/// for nodes with a time to live are none.
[[nodiscard]] bool has_session(const Participant& one) noexcept;

/// "0x1000a2b", as ZooKeeper's own logs have it.
[[nodiscard]] std::string to_hexadecimal(std::int64_t number);

/// Its client id where the node tells it, and its session: "host-12-ab34cd56 (session 0x1000a2b)".
[[nodiscard]] std::string name_of_client(const Participant& one);

}  // namespace zklock::tools
