// Lists the waiters and the holders of a lock.
#pragma once

#include "lock_core.hpp"
#include "queue_position.hpp"

#include <zklock/clock.hpp>
#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/locks/participant.hpp>
#include <zklock/session.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zklock {

/// Lists the wait queue of the kind `queue`: the nodes of one kind, or all. Tries again as the client's
/// retry policy says; the code that runs the coroutine cancels it at the deadline.
[[nodiscard]] Awaitable<Result<std::vector<LockParticipant>>> list_participants(std::shared_ptr<detail::LockCore> lock,
                                                                                LockKind queue,
                                                                                std::optional<LockKind> only,
                                                                                Deadline deadline);

/// The children of a directory; none if there is no directory.
[[nodiscard]] Awaitable<Result<std::vector<std::string>>> list_if_any(Session session, std::string directory);

/// The nodes of these paths, read in flights; nothing for one that does not exist any more. `paths` must outlive the
/// call.
[[nodiscard]] Awaitable<Result<std::vector<std::optional<DataResult>>>> read_nodes(
    Session session, const std::vector<std::string>& paths);

/// Those of the places whose nodes still exist. `directory` must outlive the call.
[[nodiscard]] Awaitable<Result<std::vector<LockParticipant>>> read_places(Session session, const std::string& directory,
                                                                          std::vector<QueueEntry> places);

}  // namespace zklock
