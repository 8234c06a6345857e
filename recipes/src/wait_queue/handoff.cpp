#include "handoff.hpp"

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

void Handoff::on_taken() noexcept {
  if (state != HandoffState::awaited) *this = {HandoffState::taken};
}

HandoffAction Handoff::on_granted() noexcept {
  switch (state) {
    case HandoffState::not_taken: return HandoffAction::ask_server;
    case HandoffState::known: return action_for(fact);
    case HandoffState::taken:
    case HandoffState::awaited: break;
  }
  state = HandoffState::awaited;
  return HandoffAction::none;
}

HandoffAction Handoff::on_reply(NodeFact told) noexcept {
  if (state == HandoffState::not_taken) return HandoffAction::none;  // it has looked at the queue since
  const bool is_awaited = state == HandoffState::awaited;
  *this = {HandoffState::known, told};
  return is_awaited ? action_for(told) : HandoffAction::none;
}

}  // namespace zklock
