// The lines below a path, as the program looks at them.
#pragma once

#include <zklock/client.hpp>
#include <zklock/recipes/inter_process_mutex.hpp>

#include <cstdint>
#include <future>
#include <optional>
#include <set>
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

/// Which line of a directory a node stands in.
enum class LineKind : std::uint8_t {
  mutex,
  read_write,
  kazoo,  ///< Kazoo's Lock, ReadLock and WriteLock, and ours under its names
  permit  ///< below "leases"
};

/// By its name; nothing for a node that is no lock's. A permit's name means something among permits only.
[[nodiscard]] std::optional<LineKind> line_of(std::string_view node_path) noexcept;

/// A directory's lines that are not empty, being read. Any number of them may be asked for at once.
class PendingLines {
 public:
  /// Asks for those lines, or for all. Throws boost::system::system_error: Error::invalid_lock_path.
  PendingLines(const ClientHandle& client, const std::string& directory);
  PendingLines(const ClientHandle& client, const std::string& directory, const std::set<LineKind>& kinds);
  /// Blocks.
  [[nodiscard]] std::vector<Line> get();

 private:
  std::vector<std::future<Line>> lines_;
};

/// The lines of a lock's directory that are not empty. Blocks.
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

/// For each in line whether nobody keeps it waiting.
[[nodiscard]] std::vector<bool> holders(const Line& line);

/// The node goes with a session. A persistent node has none, and the owners that ZooKeeper writes for containers and
/// for nodes with a time to live are none.
[[nodiscard]] bool has_session(const Participant& one) noexcept;

/// "0x1000a2b", as ZooKeeper's own logs have it.
[[nodiscard]] std::string to_hexadecimal(std::int64_t number);

/// Its client id where the node tells it, and its session: "host-12-ab34cd56 (session 0x1000a2b)".
[[nodiscard]] std::string name_of_client(const Participant& one);

}  // namespace zklock::tools
