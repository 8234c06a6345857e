#include "leader_nodes.hpp"

#include "participants.hpp"
#include "queue_position.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/retry_loop.hpp>
#include <zklock/recipes/leader/leader_election.hpp>

#include <cstddef>
#include <utility>

namespace zklock::detail {

std::vector<std::string> candidate_names(const Candidate& candidate, const Children& children) {
  std::vector<std::string> names;
  for (QueueEntry& each : in_queue_order(children, candidate.kind(), candidate.core()->naming()))
    names.push_back(std::move(each.name));
  return names;
}

Leader to_leader(std::string path, const DataResult& node) {
  Leader leader;
  leader.id = node.data;
  leader.fencing_token = node.stat.czxid;
  leader.session_id = node.stat.ephemeral_owner;
  leader.since = node.stat.created;
  leader.node_path = std::move(path);
  return leader;
}

namespace {

Awaitable<Result<std::vector<Leader>>> list_once(Session session, std::shared_ptr<Candidate> candidate) {
  const std::string& directory = candidate->core()->path();
  const auto children = co_await list_if_any(session, directory);
  if (!children) co_return children.error();
  std::vector<std::string> paths;
  for (const std::string& name : candidate_names(*candidate, *children)) paths.push_back(join_path(directory, name));
  const auto nodes = co_await read_nodes(session, paths);
  if (!nodes) co_return nodes.error();
  std::vector<Leader> leaders;
  for (std::size_t i = 0; i < paths.size(); ++i)
    if (const auto& node = (*nodes)[i]) leaders.push_back(to_leader(std::move(paths[i]), *node));
  co_return std::move(leaders);
}

}  // namespace

void start_list_candidates(std::shared_ptr<Candidate> candidate, Handler<std::vector<Leader>> handler) {
  const ClientHandle& client = candidate->core()->client();
  const Deadline deadline = after(client.config().operation_timeout);
  auto body =
      retried<std::vector<Leader>>(client, "participants", candidate->core()->path(), deadline,
                                   [candidate](const Session& session) { return list_once(session, candidate); });
  spawn_operation(serial_executor(*candidate), deadline, std::move(handler), std::move(body), candidate);
}

}  // namespace zklock::detail
