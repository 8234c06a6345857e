#include "node_place.hpp"

#include <zklock/recipe_kit/session_ops.hpp>
#include <zklock/transaction.hpp>

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
  if (!successors.empty()) return hand_off(std::move(successors), std::move(removed));
  remove_in_background(session_, node_.path, std::move(removed));
}

NodePlace::Successors NodePlace::depart() {
  share_.reset();
  Successors successors;
  if (!local_waiter_) return successors;
  if (!is_final(session_.state())) successors = local_waiter_->take_successors();  // before they are let go
  local_waiter_->dequeue_and_wake(session_.get_executor());
  return successors;
}

/// If one check has failed, its result alone tells something; if the reply was lost, none does.
void NodePlace::hand_off(Successors successors, std::function<void(error_code)> removed) const {
  Transaction transaction;
  for (const auto& each : successors) transaction.check(each->path());
  transaction.remove(node_.path);
  auto tried = [session = session_, path = node_.path, successors = std::move(successors),
                removed = std::move(removed)](error_code error, const std::vector<TransactionResult>& results) {
    for (std::size_t i = 0; i < successors.size(); ++i) successors[i]->learn(fact_of(results[i].error));
    if (!error) return removed(error);
    remove_in_background(session, path, removed, outcome_of(error));
  };
  session_.async_commit(std::move(transaction), asio::bind_executor(session_.get_executor(), std::move(tried)));
}

}  // namespace zklock::detail
