// Where a node is in the wait queue: pure decisions on the names of a lock's children.
#pragma once

#include <zklock/recipes/locks/lock_kind.hpp>
#include <zklock/recipes/locks/lock_node.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock {

struct QueuePosition {
  enum class Verdict {
    first,   ///< the node has the lock
    behind,  ///< wait until `predecessor` is gone
    missing  ///< the node is not in the list
  };
  Verdict verdict = Verdict::missing;
  std::string predecessor{};
  std::int32_t predecessor_sequence = 0;
  /// No other node blocks this one, or can come to do so: when the predecessor is gone, this node has the lock, and no
  /// further list is needed to know that. New nodes get greater numbers. (A writer may leave a reader of its owner
  /// behind, with the writer's own number, which blocks the next writer.)
  bool only_predecessor = false;
  /// A node of another kind in the directory, such as a mutex's beside readers and writers. The nodes here do not wait
  /// for it. Empty: none. Only under Curator's names.
  std::string of_other_kind{};
};

/// The queue position of `own_name`, which is of that kind, among `children`. The predecessor is the nearest blocking
/// node ahead; for a reader the nearest writer. Names that are not in the same wait queue are passed over.
[[nodiscard]] QueuePosition find_position(const std::vector<std::string>& children, std::string_view own_name,
                                          LockKind kind, LockNaming naming = LockNaming::curator);

/// What a client knows of its own node with the number before that of its new node, in the same directory: no other
/// node was made in between.
struct AheadState {
  LockKind kind{};
  bool is_present = false;       ///< it is in the queue, as far as its client knows
  bool was_granted = false;      ///< it has, or had, the lock, and is not known to be deleted by others
  bool has_left_since = false;   ///< it has left after the new node was requested
  bool waits_for_local = false;  ///< it waits for a local waiter: a reader for a writer
};

/// What the number alone tells of the new node's position; a QueuePosition is what a list tells.
enum class PositionByNumber {
  unknown,            ///< list the queue
  first,              ///< the node has the lock
  behind,             ///< it waits for the node ahead
  behind_its_writer,  ///< a reader: it waits for the writer for which the reader ahead waits
};
/// Once the node ahead has had the lock, nobody was ahead of it, and all who come later are behind the new node.
[[nodiscard]] PositionByNumber position_behind(const AheadState& ahead, LockKind kind) noexcept;

/// The node that would block a new node of that kind at the end of the queue: the last one. Empty: none would.
[[nodiscard]] std::string find_last_blocking(const std::vector<std::string>& children, LockKind kind,
                                             LockNaming naming = LockNaming::curator);

struct QueueEntry {
  std::string name;
  LockKind kind;
  std::int32_t sequence;
};

/// Those of `children` that are in the wait queue of `kind`, in the order of the queue.
[[nodiscard]] std::vector<QueueEntry> in_queue_order(const std::vector<std::string>& children, LockKind kind,
                                                     LockNaming naming = LockNaming::curator);

/// No writer waits in the queue of readers and writers, or holds the lock.
[[nodiscard]] bool has_no_writer(const std::vector<std::string>& children, LockNaming naming = LockNaming::curator);

}  // namespace zklock
