#include "permit_holders.hpp"

#include "participants.hpp"
#include "sequence_number.hpp"

#include <zklock/recipe_kit/retry_loop.hpp>

#include <algorithm>
#include <utility>

namespace zklock {

namespace {

Awaitable<Result<std::vector<LockParticipant>>> list_once(Session session,
                                                          std::shared_ptr<detail::SemaphoreCore> semaphore) {
  const std::string& directory = semaphore->leases()->path();
  const auto listed = co_await list_if_any(session, directory);
  if (!listed) co_return listed.error();
  std::vector<QueueEntry> places;
  for (const std::string& name : *listed)
    places.push_back({name, LockKind::permit, parse_sequence(name, marker_of(LockKind::permit)).value_or(0)});
  auto holders = co_await read_places(session, directory, std::move(places));
  if (holders) std::ranges::sort(*holders, {}, &LockParticipant::fencing_token);
  co_return std::move(holders);
}

}  // namespace

Awaitable<Result<std::vector<LockParticipant>>> list_permit_holders(std::shared_ptr<detail::SemaphoreCore> semaphore,
                                                                    Deadline deadline) {
  // This uses the session that acquires: if there are several, the others may not have seen yet what that one has done.
  return detail::retried<std::vector<LockParticipant>>(
      semaphore->client(), "participants", semaphore->locks()->path(), deadline,
      [semaphore](const Session& session) { return list_once(session, semaphore); });
}

}  // namespace zklock
