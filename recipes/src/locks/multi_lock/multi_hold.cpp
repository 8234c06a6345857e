#include "multi_hold.hpp"

#include "unattended.hpp"

#include <zklock/recipe_kit/flight.hpp>

#include <algorithm>
#include <cstddef>

namespace zklock {

namespace detail {

MultiHold::MultiHold(std::shared_ptr<const LockSet> locks)
    : locks_{std::move(locks)}, leases_(locks_->order().size()) {}

MultiHold::~MultiHold() {
  in_reverse([](Lease& lease) { lease = Lease{}; });
}

template <class Action>
void MultiHold::in_reverse(Action action) {
  if (leases_.empty()) return;  // taken out
  for (std::size_t i = acquired_; i > 0; --i) action(leases_[locks_->order()[i - 1]]);
}

LeaseState MultiHold::state() const noexcept {
  LeaseState worst = leases_.empty() || acquired_ == 0 ? LeaseState::released : LeaseState::held;
  for (std::size_t i = 0; i < acquired_; ++i) worst = std::max(worst, leases_[locks_->order()[i]].state());
  return worst;
}

void MultiHold::add(Lease lease) { leases_[locks_->order()[acquired_++]] = std::move(lease); }

Awaitable<error_code> MultiHold::give_back(std::shared_ptr<MultiHold> self) {
  const Flight<> releases{self->locks().client().get_executor(), self->acquired_};
  self->in_reverse(
      [&, number = std::size_t{0}](Lease& lease) mutable { lease.async_release(releases.handler(number++, self)); });
  if (const error_code cancelled = co_await releases.wait()) co_return cancelled;
  for (const auto& [error] : releases.outcomes())
    if (error) co_return error;
  co_return error_code{};
}

const ClientHandle& home_of(const MultiHold& holds) { return holds.locks().client(); }

void start_release_all(std::shared_ptr<MultiHold> holds, Deadline deadline, Handler<> handler) {
  const auto serial = holds->locks().client().get_executor();
  auto waiting = Unattended::of(std::move(handler), serial);
  asio::post(serial, [serial, deadline, holds = std::move(holds), waiting = std::move(waiting)]() mutable {
    waiting->give_up_at(deadline, serial);
    spawn_background(serial, MultiHold::give_back(std::move(holds)),
                     [waiting](error_code outcome) { waiting->complete(outcome); });
  });
}

}  // namespace detail

LeaseState MultiLease::state() const noexcept { return holds_ ? holds_->state() : LeaseState::released; }

std::span<const Lease> MultiLease::leases() const noexcept {
  return holds_ ? holds_->leases() : std::span<const Lease>{};
}

}  // namespace zklock
