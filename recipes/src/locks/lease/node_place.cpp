#include "node_place.hpp"

#include "handoff.hpp"

#include <zklock/recipe_kit/session_ops.hpp>

namespace zklock::detail {

void NodePlace::set_local_waiter(std::shared_ptr<LocalWaiter> local_waiter, std::weak_ptr<NodeHolder> holder) {
  local_waiter_ = std::move(local_waiter);
  if (local_waiter_) local_waiter_->grant(std::move(holder));
}

void NodePlace::mark_deleted() {
  if (local_waiter_) local_waiter_->mark_deleted();
}

void NodePlace::remove(std::function<void(error_code)> removed) {
  Successors successors = depart();
  if (!successors.empty())
    return hand_off_in_background(session_, local_waiter_, std::move(successors), std::move(removed));
  remove_in_background(session_, node_.path, std::move(removed));
}

Awaitable<error_code> NodePlace::remove_guaranteed() {
  Successors successors = depart();
  return successors.empty() ? zklock::remove_guaranteed(session_, node_.path)
                            : hand_off_guaranteed(session_, local_waiter_, std::move(successors));
}

void NodePlace::on_removed() {
  if (const auto late_node = std::exchange(late_node_, nullptr)) {
    remove_late_node(session_, *late_node);
    if (local_waiter_) local_waiter_->expect_late_node(session_, late_node);
  }
}

Successors NodePlace::depart() {
  share_.reset();
  Successors successors;
  if (!local_waiter_) return successors;
  if (!is_final(session_.state())) successors = local_waiter_->take_successors();
  local_waiter_->dequeue_and_wake(session_.get_executor());
  return successors;
}

}  // namespace zklock::detail
