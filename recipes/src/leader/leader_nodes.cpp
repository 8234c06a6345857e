#include "leader_nodes.hpp"

#include "participants.hpp"
#include "queue_position.hpp"

#include <zklock/path.hpp>
#include <zklock/recipes/leader/leader_election.hpp>

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

Awaitable<Result<std::vector<Leader>>> list_candidates(std::shared_ptr<Candidate> candidate) {
  const std::string& directory = candidate->core()->path();
  const auto [no_session, session] = co_await candidate->core()->client().async_session(directory, use_tuple);
  if (no_session) co_return no_session;
  const auto children = co_await list_if_any(session, directory);
  if (!children) co_return children.error();
  std::vector<Leader> leaders;
  for (const std::string& name : candidate_names(*candidate, *children)) {
    std::string path = join_path(directory, name);
    auto [error, node] = co_await session.async_get_data(path, use_tuple);
    if (error == Error::no_node) continue;
    if (error) co_return error;
    leaders.push_back(to_leader(std::move(path), node));
  }
  co_return leaders;
}

void start_list_candidates(std::shared_ptr<Candidate> candidate, Handler<std::vector<Leader>> handler) {
  auto body = list_candidates(candidate);
  spawn_operation(serial_executor(*candidate), {}, std::move(handler), std::move(body), candidate);
}

}  // namespace zklock::detail
