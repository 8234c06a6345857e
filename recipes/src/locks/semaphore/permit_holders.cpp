#include "permit_holders.hpp"

#include "participants.hpp"
#include "sequence_number.hpp"

#include <algorithm>

namespace zklock {

Awaitable<Result<std::vector<LockParticipant>>> list_permit_holders(std::shared_ptr<detail::SemaphoreCore> semaphore) {
  const std::string& directory = semaphore->leases()->path();
  // This uses the session that acquires: if there are several, the others may not have seen yet what that one has done.
  const auto [no_session, session] = co_await semaphore->client().async_session(semaphore->locks()->path(), use_tuple);
  if (no_session) co_return no_session;
  const auto listed = co_await list_if_any(session, directory);
  if (!listed) co_return listed.error();
  std::vector<QueueEntry> places;
  for (const std::string& name : *listed)
    places.push_back({name, LockKind::permit, parse_sequence(name, marker_of(LockKind::permit)).value_or(0)});
  auto holders = co_await read_places(session, directory, std::move(places));
  if (holders) std::ranges::sort(*holders, {}, &LockParticipant::fencing_token);
  co_return std::move(holders);
}

}  // namespace zklock
