#include "handoff_state.hpp"

namespace zklock {

namespace {

HandoffAction action_for(NodeFact fact) noexcept {
  switch (fact) {
    case NodeFact::exists: return HandoffAction::keep;
    case NodeFact::missing: return HandoffAction::lose;
    case NodeFact::unknown: break;
  }
  return HandoffAction::ask_server;
}

}  // namespace

NodeFact fact_of(error_code reply) noexcept {
  if (!reply) return NodeFact::exists;
  return reply == Error::no_node ? NodeFact::missing : NodeFact::unknown;
}

Handoff on_taken(Handoff handoff) noexcept {
  return {handoff.state == HandoffState::awaited ? HandoffState::awaited : HandoffState::taken};
}

HandoffStep on_granted(Handoff handoff) noexcept {
  switch (handoff.state) {
    case HandoffState::not_taken: return {handoff, HandoffAction::ask_server};
    case HandoffState::known: return {handoff, action_for(handoff.fact)};
    case HandoffState::taken:
    case HandoffState::awaited: break;
  }
  return {{HandoffState::awaited}};
}

HandoffStep on_reply(Handoff handoff, NodeFact fact) noexcept {
  if (handoff.state == HandoffState::not_taken) return {handoff};  // it has looked at the queue since
  const bool is_awaited = handoff.state == HandoffState::awaited;
  return {{HandoffState::known, fact}, is_awaited ? action_for(fact) : HandoffAction::none};
}

}  // namespace zklock
