#include "keep_step.hpp"

#include <algorithm>

namespace zklock {

namespace {

constexpr std::size_t max_sessions = 64;

}  // namespace

void OwnSessions::add(std::int64_t session) {
  if (contain(session)) return;
  if (ids_.size() == max_sessions) ids_.erase(ids_.begin());
  ids_.push_back(session);
}

bool OwnSessions::contain(std::int64_t session) const { return std::ranges::find(ids_, session) != ids_.end(); }

NodeOwner owner_of(std::int64_t ephemeral_owner, std::int64_t this_session, const OwnSessions& earlier) {
  if (ephemeral_owner == 0) return NodeOwner::no_session;
  if (ephemeral_owner == this_session) return NodeOwner::this_session;
  return earlier.contain(ephemeral_owner) ? NodeOwner::earlier_session : NodeOwner::foreign_session;
}

KeepStep next_step(bool wants_ephemeral, NodeConflict conflict, const PathSeen& seen) {
  if (!seen.exists) return KeepStep::create;
  if (wants_ephemeral && seen.owner == NodeOwner::earlier_session) return KeepStep::replace;
  if (seen.owner == (wants_ephemeral ? NodeOwner::this_session : NodeOwner::no_session)) return KeepStep::keep;
  switch (conflict) {
    case NodeConflict::wait: break;
    case NodeConflict::fail: return KeepStep::give_up;
    case NodeConflict::take_over: return seen.took_over ? KeepStep::wait : KeepStep::replace;
  }
  return KeepStep::wait;
}

}  // namespace zklock
