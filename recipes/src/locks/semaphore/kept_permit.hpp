// The only permit of a semaphore, if its client keeps it between two uses.
#pragma once

#include "kept_acquire.hpp"
#include "queue_node.hpp"
#include "semaphore_core.hpp"

#include <zklock/recipe_kit/spawn.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace zklock {

/// Waits until the acquire has the kept node, which gives its held lock, or is to make a node, which gives null; the
/// front of `to_keep` is its own then. `semaphore` and `to_keep` must outlive the call. Errors: operation_aborted;
/// timed_out for a try.
[[nodiscard]] Awaitable<Result<std::shared_ptr<detail::HeldLock>>> enter_kept_permit(
    const detail::SemaphoreCore& semaphore, bool try_once, std::uint64_t attempt, ToKeep& to_keep);

/// Lists the leases. If the client may find itself alone, a watch on the directory's children is noted in `to_keep`,
/// which must outlive the call, unless it is null. A create that was sent before is in the list.
[[nodiscard]] Awaitable<Result<Children>> list_to_keep(Session session, const std::string& directory, ToKeep* to_keep);

/// Takes note of a node that was made, and of the leases by the list with which the watch was set.
void note_listed(ToKeep& to_keep, const QueueNode& queue_node, const Children& children);
/// The node has to wait: if not only for the client's own, another client is in the queue.
void note_waiting(ToKeep& to_keep, const QueueNode& queue_node, const Children& children);

}  // namespace zklock
