#include "held_lock.hpp"
#include "lease_events.hpp"
#include "unattended.hpp"

#include <zklock/detail/existing.hpp>
#include <zklock/recipe_kit/complete_later.hpp>
#include <zklock/recipe_kit/session_ops.hpp>
#include <zklock/recipe_kit/spawn.hpp>

#include <algorithm>

namespace zklock {

std::string_view to_string(LeaseState state) noexcept {
  switch (state) {
    case LeaseState::held: return "held";
    case LeaseState::suspect: return "suspect";
    case LeaseState::lost: return "lost";
    case LeaseState::released: return "released";
  }
  return "unknown";
}

namespace detail {

namespace {

/// What a release comes to, after what its delete has come to.
error_code outcome_of_release(const HeldLock& held_lock, bool was_lost, error_code removed) {
  const bool is_lost = was_lost || removed == Error::no_node || is_final(held_lock.session().state());
  return is_lost ? make_error_code(LockError::lock_lost) : removed;
}

void start_wait(std::shared_ptr<LeaseShare> share, LeaseEvent awaited, Handler<> handler) {
  const auto serial = share->held_lock().session().get_executor();
  auto body = await_lease_event(share, awaited);
  spawn_operation(serial, {}, std::move(handler), std::move(body), share);
}

}  // namespace

const Session& home_of(const LeaseShare& share) { return share.held_lock().session(); }

/// The delete continues when the callers that wait for it give up.
void start_release(std::shared_ptr<LeaseShare> share, Deadline deadline, Handler<> handler) {
  const std::shared_ptr<HeldLock> held_lock = share->shared_held_lock();
  const auto serial = held_lock->session().get_executor();
  const bool was_lost = held_lock->is_lost();
  const bool is_first = share->end();
  if (!is_first || !held_lock->leave()) {
    const error_code outcome =
        is_first ? outcome_of_release(*held_lock, was_lost, {}) : make_error_code(LockError::not_owner);
    return complete_later(serial, held_lock, std::move(handler), outcome);
  }
  auto waiting = Unattended::of(std::move(handler), serial);
  asio::dispatch(serial, [serial, deadline, held_lock, was_lost, waiting = std::move(waiting)] {
    waiting->give_up_at(deadline, serial);
    held_lock->remove([held_lock, was_lost, waiting](error_code removed) {
      waiting->complete(outcome_of_release(*held_lock, was_lost, removed));
    });
  });
}

void start_wait_lost(std::shared_ptr<LeaseShare> share, Handler<> handler) {
  start_wait(std::move(share), LeaseEvent::lost, std::move(handler));
}

void start_wait_revocation(std::shared_ptr<LeaseShare> share, Handler<> handler) {
  start_wait(std::move(share), LeaseEvent::revocation, std::move(handler));
}

void release_in_background(const std::shared_ptr<LeaseShare>& share) noexcept {
  if (!share || share->held_lock().session().in_forked_child() || !share->end()) return;
  if (share->held_lock().leave()) share->held_lock().remove();
}

bool extend(const std::shared_ptr<LeaseShare>& share, Deadline until) noexcept {
  return share && share->state() != LeaseState::released && share->held_lock().extend(*until);
}

LeaseState LeaseShare::state() const noexcept { return released_ ? LeaseState::released : held_lock_->state(); }

Clock::time_point LeaseShare::valid_until() const noexcept {
  const LeaseState now = state();
  const bool ours = now == LeaseState::held || now == LeaseState::suspect;
  return ours ? held_lock_->valid_until() : Clock::time_point{};
}

Transaction LeaseShare::guard() const {
  Transaction transaction;
  transaction.check(held_lock_->node().path, held_lock_->guarded_version());
  return transaction;
}

bool LeaseShare::end() {
  if (released_.exchange(true)) return false;
  held_lock_->wake();
  return true;
}

}  // namespace detail

LeaseState Lease::state() const noexcept { return share_ ? share_->state() : LeaseState::released; }
Clock::time_point Lease::valid_until() const noexcept { return share_ ? share_->valid_until() : Clock::time_point{}; }
Clock::duration Lease::remaining() const noexcept { return std::max(valid_until() - Clock::now(), Clock::duration{}); }
std::int64_t Lease::fencing_token() const noexcept { return share_ ? share_->held_lock().fencing_token() : 0; }
std::string Lease::node_path() const { return share_ ? share_->held_lock().node().path : std::string{}; }
std::uint32_t Lease::count() const noexcept { return share_ ? share_->held_lock().count() : 0; }
std::string_view Lease::cause_of_loss() const noexcept {
  return state() == LeaseState::lost ? share_->held_lock().cause_of_loss() : std::string_view{};
}
Transaction Lease::guard() const { return detail::existing(share_).guard(); }

}  // namespace zklock
