#include "late_nodes.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/session_ops.hpp>

#include <utility>

namespace zklock {

namespace {

Awaitable<void> find_late_node_and_remove(Session session, ProtectedPath attempt) {
  co_await find_and_remove(std::move(session), std::move(attempt));
}

}  // namespace

void remove_late_node(const Session& session, const ProtectedPath& attempt) {
  spawn_detached(session.get_executor(), find_late_node_and_remove(session, attempt));
}

void LateNodes::expect(const Session& session, std::shared_ptr<const ProtectedPath> attempt) {
  if (std::exchange(session_, session.id()) != session.id()) expected_.clear();
  if (expected_.size() == max_expected) expected_.erase(expected_.begin());
  expected_.push_back(std::move(attempt));
}

void LateNodes::on_listed(const Session& session, const std::vector<std::string>& children) const {
  if (expected_.empty() || session_ != session.id()) return;
  for (const std::string& child : children)
    for (const auto& attempt : expected_)
      if (attempt->names(child)) remove_in_background(session, join_path(attempt->directory(), child));
}

}  // namespace zklock
