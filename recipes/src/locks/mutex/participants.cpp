#include "participants.hpp"

#include "contention.hpp"

#include <zklock/client_id.hpp>
#include <zklock/detail/steps.hpp>
#include <zklock/path.hpp>
#include <zklock/recipes/revocation.hpp>

#include <algorithm>

namespace zklock {

namespace {

Participant to_participant(std::string path, const InLine& place, const DataResult& node) {
  Participant participant;
  participant.kind = place.kind;
  participant.sequence = place.sequence;
  participant.node_path = std::move(path);
  if (const auto data = parse_lock_data(node.data)) {
    participant.client_id = data->client_id;
    participant.count = data->count;
  }
  participant.revocation_requested = node.data == revocation_request;
  participant.session_id = node.stat.ephemeral_owner;
  participant.fencing_token = node.stat.czxid;
  participant.since = node.stat.created;
  return participant;
}

/// Those of the places whose nodes are there yet.
Awaitable<Result<std::vector<Participant>>> read_places(Session session, const std::string& directory,
                                                        std::vector<InLine> places) {
  std::vector<Participant> participants;
  for (const InLine& place : places) {
    std::string path = join_path(directory, place.name);
    auto [error, node] = co_await session.async_get_data(path, use_tuple);
    if (error == Error::no_node) continue;
    if (error) co_return error;
    participants.push_back(to_participant(std::move(path), place, node));
  }
  co_return participants;
}

/// The children; none where there is no directory.
Awaitable<Result<std::vector<std::string>>> list_if_any(Session session, std::string directory) {
  auto listed = co_await list_children(std::move(session), std::move(directory));
  if (!listed && listed.error() == Error::no_node) co_return std::vector<std::string>{};
  co_return std::move(listed);
}

}  // namespace

Awaitable<Result<std::vector<Participant>>> list_participants(std::shared_ptr<detail::LockCore> lock, LockKind line,
                                                              std::optional<LockKind> only) {
  const std::string& directory = lock->path();
  const auto [no_session, session] = co_await lock->client().async_session(directory, use_tuple);
  if (no_session) co_return no_session;
  const auto listed = co_await list_if_any(session, directory);
  if (!listed) co_return listed.error();
  auto places = line_up(*listed, line, lock->naming());
  if (only) std::erase_if(places, [only](const InLine& place) { return place.kind != *only; });
  co_return co_await read_places(session, directory, std::move(places));
}

Awaitable<Result<std::vector<Participant>>> list_permit_holders(std::shared_ptr<detail::SemaphoreCore> semaphore) {
  const std::string& directory = semaphore->leases()->path();
  // The session that acquires: with several, others may not have seen yet what it has done.
  const auto [no_session, session] = co_await semaphore->client().async_session(semaphore->locks()->path(), use_tuple);
  if (no_session) co_return no_session;
  const auto listed = co_await list_if_any(session, directory);
  if (!listed) co_return listed.error();
  std::vector<InLine> places;
  for (const std::string& name : *listed)
    places.push_back({name, LockKind::permit, parse_sequence(name, marker_of(LockKind::permit)).value_or(0)});
  auto holders = co_await read_places(session, directory, std::move(places));
  if (holders) std::ranges::sort(*holders, {}, &Participant::fencing_token);
  co_return std::move(holders);
}

}  // namespace zklock
