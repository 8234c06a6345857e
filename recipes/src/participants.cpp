#include "participants.hpp"

#include "contention.hpp"

#include <zklock/client_id.hpp>
#include <zklock/detail/steps.hpp>
#include <zklock/path.hpp>
#include <zklock/recipes/revocation.hpp>

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

}  // namespace

Awaitable<Result<std::vector<Participant>>> list_participants(ClientHandle client, std::string directory, LockKind line,
                                                              std::optional<LockKind> only) {
  const auto [no_session, session] = co_await client.async_session(directory, use_tuple);
  if (no_session) co_return no_session;
  auto listed = co_await list_children(session, directory);
  std::vector<Participant> participants;
  if (!listed && listed.error() == Error::no_node) co_return participants;
  if (!listed) co_return listed.error();
  for (const InLine& place : line_up(*listed, line)) {
    if (only && place.kind != *only) continue;
    std::string path = join_path(directory, place.name);
    auto [error, node] = co_await session.async_get_data(path, use_tuple);
    if (error == Error::no_node) continue;
    if (error) co_return error;
    participants.push_back(to_participant(std::move(path), place, node));
  }
  co_return participants;
}

}  // namespace zklock
