#include "participants.hpp"

#include "queue_position.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/flight.hpp>
#include <zklock/recipe_kit/session_ops.hpp>
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

}  // namespace

Awaitable<Result<std::vector<LockParticipant>>> read_places(Session session, const std::string& directory,
                                                            std::vector<QueueEntry> places) {
  std::vector<LockParticipant> participants;
  for (std::size_t first = 0; first < places.size(); first += max_flight) {
    const auto some = std::span{places}.subspan(first, std::min(max_flight, places.size() - first));
    const Flight<DataResult> reads{session.get_executor(), some.size()};
    for (std::size_t i = 0; i < some.size(); ++i)
      session.async_get_data(join_path(directory, some[i].name), reads.handler(i));
    if (const error_code cancelled = co_await reads.wait()) co_return cancelled;
    for (std::size_t i = 0; i < some.size(); ++i) {
      const auto& [error, node] = reads.outcomes()[i];
      if (error == Error::no_node) continue;
      if (error) co_return error;
      participants.push_back(to_participant(join_path(directory, some[i].name), some[i], node));
    }
  }
  co_return participants;
}

Awaitable<Result<std::vector<std::string>>> list_if_any(Session session, std::string directory) {
  auto listed = co_await list_children(std::move(session), std::move(directory));
  if (!listed && listed.error() == Error::no_node) co_return std::vector<std::string>{};
  co_return std::move(listed);
}

Awaitable<Result<std::vector<LockParticipant>>> list_participants(std::shared_ptr<detail::LockCore> lock,
                                                                  LockKind queue, std::optional<LockKind> only) {
  const std::string& directory = lock->path();
  const auto [no_session, session] = co_await lock->client().async_session(directory, use_tuple);
  if (no_session) co_return no_session;
  const auto listed = co_await list_if_any(session, directory);
  if (!listed) co_return listed.error();
  auto places = in_queue_order(*listed, queue, lock->naming());
  if (only) std::erase_if(places, [only](const QueueEntry& place) { return place.kind != *only; });
  co_return co_await read_places(session, directory, std::move(places));
}

}  // namespace zklock
