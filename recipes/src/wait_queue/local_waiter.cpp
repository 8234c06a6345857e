#include "local_waiter.hpp"

#include "local_queue.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace zklock {

// ---- its position in the queue

void LocalWaiter::dequeue_and_wake(const asio::any_io_executor& executor) {
  const auto all = all_.lock();
  if (!all || has_left()) return;
  left_at_ = all->on_dequeued(*this);
  if (waiters_.empty()) return;
  asio::post(executor, [waiters = std::exchange(waiters_, {})] {
    for (const auto& each : waiters)
      if (const auto waiting = each.wake_up.lock()) waiting->happen();
  });
}

void LocalWaiter::wake() const {
  for (const auto& each : waiters_)
    if (const auto waiting = each.wake_up.lock()) waiting->happen();
}

void LocalWaiter::mark_deleted() {
  presence_ = Presence::deleted;
  wake();
  if (const auto all = all_.lock()) all->take_out(*this);
}

void LocalWaiter::on_deleted() {
  if (const auto holder = holder_.lock()) return holder->on_node_deleted();
  mark_deleted();
}

AheadState LocalWaiter::seen_since(std::uint64_t moment) const {
  return {.kind = kind_,
          .is_present = !has_left() && !is_deleted(),
          .was_granted = was_granted(),
          .has_left_since = has_left_since(moment),
          .waits_for_local = waits_for() != nullptr};
}

void LocalWaiter::sweep_waiters() {
  std::erase_if(waiters_, [](const Waiter& each) { return each.wake_up.expired(); });
  next_sweep_ = 2 * waiters_.size() + 8;
}

std::shared_ptr<LocalWaiter> LocalWaiter::waits_for() const {
  auto ahead = waits_for_.lock();
  return ahead && !ahead->has_left() && ahead->presence_ != Presence::deleted ? ahead : nullptr;
}

std::shared_ptr<AsyncEvent> LocalWaiter::add_waiter(const std::shared_ptr<LocalWaiter>& self, const Session& session,
                                                    std::weak_ptr<LocalWaiter> waiter) {
  auto wake_up = std::make_shared<AsyncEvent>(session.get_executor());
  if (self->waiters_.size() >= self->next_sweep_) self->sweep_waiters();
  if (const auto waiting = waiter.lock()) waiting->waits_for_ = self;
  self->waiters_.push_back({wake_up, std::move(waiter)});
  if (const auto all = self->all_.lock()) all->attend(session);
  return wake_up;
}

void LocalWaiter::expect_late_node(const Session& session, std::shared_ptr<const ProtectedPath> attempt) const {
  if (const auto all = all_.lock()) all->late_nodes().expect(session, std::move(attempt));
}

// ---- the handoff to it

void LocalWaiter::learn(NodeFact fact) {
  const HandoffAction action = handoff_.on_reply(fact);
  if (action == HandoffAction::none) return;
  if (const auto holder = holder_.lock()) holder->act_on(action);
}

// ---- the handoff from it

std::vector<std::shared_ptr<LocalWaiter>> LocalWaiter::take_successors() {
  sweep_waiters();
  std::vector<std::shared_ptr<LocalWaiter>> successors;
  std::size_t bytes = 0;
  for (const Waiter& each : waiters_) {
    auto successor = each.local_waiter.lock();
    if (!successor) continue;
    bytes += successor->path_.size();
    if (successors.size() == max_successors || bytes > max_bytes) break;
    successor->handoff_.on_taken();
    successors.push_back(std::move(successor));
  }
  return successors;
}

}  // namespace zklock
