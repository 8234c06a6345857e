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
  if (late_node_)
    removed = [session = session_, local_waiter = local_waiter_, late_node = std::exchange(late_node_, nullptr),
               removed = std::move(removed)](error_code outcome) {
      remove_late_node(session, *late_node);
      if (local_waiter) local_waiter->expect_late_node(session, late_node);
      removed(outcome);
    };
  Successors successors = depart();
  if (!successors.empty()) return hand_off(session_, local_waiter_, std::move(successors), std::move(removed));
  remove_in_background(session_, node_.path, std::move(removed));
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
