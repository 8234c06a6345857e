// The wait queues below a path, as the program reads them.
#pragma once

#include "hexadecimal.hpp"

#include <zklock/client.hpp>
#include <zklock/recipes/locks/inter_process_mutex.hpp>

#include <cstdint>
#include <future>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::tools {

/// The holders and the waiters of one lock, in the order of the queue.
using WaitQueue = std::vector<LockParticipant>;

/// The directory of a semaphore's permits, below its path; Curator's names.
inline constexpr std::string_view leases_name = "leases";
/// The directory of a semaphore's wait queue.
inline constexpr std::string_view locks_name = "locks";

/// The wait queue of a directory to which a node belongs.
enum class QueueKind : std::uint8_t {
  mutex,
  read_write,
  kazoo,  ///< Kazoo's Lock, ReadLock and WriteLock, and zklock's under Kazoo's names
  permit  ///< below "leases"
};

/// The queue of a node by its name; std::nullopt for a node that is no lock's. A permit's name has a meaning only among
/// permits.
[[nodiscard]] std::optional<QueueKind> queue_kind_of(std::string_view node_path) noexcept;

/// A directory's wait queues that are not empty, while they are being read. Any number of directories may be read at
/// once.
class PendingQueues {
 public:
  /// Requests those queues, or all. Throws boost::system::system_error: LockError::invalid_lock_path.
  PendingQueues(const ClientHandle& client, const std::string& directory);
  PendingQueues(const ClientHandle& client, const std::string& directory, const std::set<QueueKind>& kinds);
  /// Blocks.
  [[nodiscard]] std::vector<WaitQueue> get();

 private:
  std::vector<std::future<WaitQueue>> queues_;
};

/// The wait queues of a lock's directory that are not empty. Blocks.
[[nodiscard]] std::vector<WaitQueue> read_queues(const ClientHandle& client, const std::string& directory);

/// The nodes of a semaphore.
struct SemaphoreQueues {
  WaitQueue permits;  ///< oldest first
  WaitQueue waiting;  ///< the first may already have nodes among the permits, which it does not hold yet
};

/// Empty if there is no semaphore. Blocks.
[[nodiscard]] SemaphoreQueues read_semaphore(const ClientHandle& client, const std::string& path);

/// Whether the permit is held, and not a node that the first waiter has created since it enqueued.
[[nodiscard]] bool is_held_permit(const SemaphoreQueues& semaphore, const LockParticipant& permit) noexcept;

/// Whether `ahead` blocks `behind`, a node of the same queue.
[[nodiscard]] bool blocks_waiters(const LockParticipant& ahead, const LockParticipant& behind) noexcept;

/// For each node of the queue whether no other node blocks it.
[[nodiscard]] std::vector<bool> holders(const WaitQueue& queue);

/// Whether the node is deleted at the end of a session. A persistent node has none, and the owners that ZooKeeper
/// writes for containers and for nodes with a time to live are no sessions.
[[nodiscard]] bool has_session(const LockParticipant& one) noexcept;

/// Its client id, if the node's data has one, and its session: "host-12-ab34cd56 (session 0x1000a2b)".
[[nodiscard]] std::string name_of_client(const LockParticipant& one);

}  // namespace zklock::tools
