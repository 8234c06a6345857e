#include "audit_record.hpp"

#include <zklock/path.hpp>

#include <utility>

namespace zklock::detail {

std::string_view AuditRecord::text(AuditText which) const noexcept {
  const auto index = static_cast<std::size_t>(which);
  return std::string_view{text_}.substr(offsets_[index], sizes_[index]);
}

void AuditRecord::set(AuditText which, std::string_view text) {
  const auto index = static_cast<std::size_t>(which);
  offsets_[index] = text_.size();
  text_ += text;
  sizes_[index] = text.size();
}

void AuditRecord::clear() noexcept {
  std::string memory = std::move(text_);
  memory.clear();
  *this = AuditRecord{};
  text_ = std::move(memory);
}

void AuditRecord::assign(const LockEvent& event) {
  clear();
  phase = event.phase;
  kind = event.kind;
  attempt = event.attempt;
  session_id = event.session_id;
  owner = event.owner;
  fencing_token = event.fencing_token;
  waited = event.waited;
  held = event.held;
  count = event.count;
  error = event.error;
  ahead = event.ahead;
  set(AuditText::path, event.path);
  set(AuditText::client_id, event.client_id);
  set(AuditText::node, node_name(event.node_path));
  set(AuditText::cause, event.cause);
  if (!event.holder) return;
  has_holder = true;
  holder_session_id = event.holder->session_id;
  holder_age = event.holder->age;
  set(AuditText::holder_client_id, event.holder->client_id);
  set(AuditText::holder_node, node_name(event.holder->node_path));
}

void AuditRecord::assign(const NodeEvent& event) {
  clear();
  action = AuditAction::node;
  node_phase = event.state.phase;
  session_id = event.session_id;
  czxid = event.state.czxid;
  holder_session_id = event.state.owner;
  error = event.state.error;
  set(AuditText::path, event.path);
  set(AuditText::client_id, event.client_id);
  set(AuditText::node, node_name(event.node_path));
}

void AuditRecord::assign(const RevokeEvent& event) {
  clear();
  action = AuditAction::revoke;
  fencing_token = event.fencing_token;
  error = event.error;
  set(AuditText::path, parent_path(event.node_path));
  set(AuditText::node, node_name(event.node_path));
  set(AuditText::asked_by, event.asked_by);
  set(AuditText::user_name, event.user_name);
  set(AuditText::refusal, event.refusal);
}

void AuditRecord::assign_dropped(std::uint64_t number) {
  clear();
  action = AuditAction::dropped;
  dropped = number;
}

}  // namespace zklock::detail
