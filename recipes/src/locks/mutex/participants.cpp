#include "participants.hpp"

#include "queue_position.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/flight.hpp>
#include <zklock/recipe_kit/retry_loop.hpp>
#include <zklock/recipes/locks/lock_data.hpp>
#include <zklock/recipes/locks/revocation.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace zklock {

namespace {

LockParticipant to_participant(std::string path, const QueueEntry& place, const DataResult& node) {
  LockParticipant participant;
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

Awaitable<Result<std::vector<LockParticipant>>> list_once(Session session, std::shared_ptr<detail::LockCore> lock,
                                                          LockKind queue, std::optional<LockKind> only) {
  const auto listed = co_await list_if_any(session, lock->path());
  if (!listed) co_return listed.error();
  auto places = in_queue_order(*listed, queue, lock->naming());
  if (only) std::erase_if(places, [only](const QueueEntry& place) { return place.kind != *only; });
  co_return co_await read_places(session, lock->path(), std::move(places));
}

}  // namespace

Awaitable<Result<std::vector<std::optional<DataResult>>>> read_nodes(Session session,
                                                                     const std::vector<std::string>& paths) {
  std::vector<std::optional<DataResult>> nodes;
  for (std::size_t first = 0; first < paths.size(); first += max_flight) {
    const auto some = std::span{paths}.subspan(first, std::min(max_flight, paths.size() - first));
    const Flight<DataResult> reads{session.get_executor(), some.size()};
    for (std::size_t i = 0; i < some.size(); ++i) session.async_get_data(some[i], reads.handler(i));
    if (const error_code cancelled = co_await reads.wait()) co_return cancelled;
    for (auto& [error, node] : reads.outcomes()) {
      if (error && error != Error::no_node) co_return error;
      nodes.push_back(error ? std::nullopt : std::optional{std::move(node)});
    }
  }
  co_return std::move(nodes);
}

Awaitable<Result<std::vector<LockParticipant>>> read_places(Session session, const std::string& directory,
                                                            std::vector<QueueEntry> places) {
  std::vector<std::string> paths;
  for (const QueueEntry& place : places) paths.push_back(join_path(directory, place.name));
  const auto nodes = co_await read_nodes(std::move(session), paths);
  if (!nodes) co_return nodes.error();
  std::vector<LockParticipant> participants;
  for (std::size_t i = 0; i < places.size(); ++i)
    if (const auto& node = (*nodes)[i]) participants.push_back(to_participant(std::move(paths[i]), places[i], *node));
  co_return std::move(participants);
}

Awaitable<Result<std::vector<std::string>>> list_if_any(Session session, std::string directory) {
  auto [error, listed] = co_await session.async_get_children(std::move(directory), use_tuple);
  if (error && error != Error::no_node) co_return error;
  co_return std::move(listed.names);
}

Awaitable<Result<std::vector<LockParticipant>>> list_participants(std::shared_ptr<detail::LockCore> lock,
                                                                  LockKind queue, std::optional<LockKind> only,
                                                                  Deadline deadline) {
  return detail::retried<std::vector<LockParticipant>>(
      lock->client(), "participants", lock->path(), deadline,
      [lock, queue, only](const Session& session) { return list_once(session, lock, queue, only); });
}

}  // namespace zklock
