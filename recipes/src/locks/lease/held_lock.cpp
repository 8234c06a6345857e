#include "held_lock.hpp"

#include "handoff.hpp"

#include <zklock/recipe_kit/session_ops.hpp>
#include <zklock/recipes/locks/lock_data.hpp>
#include <zklock/recipes/locks/revocation.hpp>

#include <utility>

namespace zklock {
namespace detail {

std::shared_ptr<HeldLock> HeldLock::make(std::shared_ptr<LockTarget> lock, Owner owner, LockKind kind, Session session,
                                         CreateResult node, const LockAttempt& attempt) {
  auto held_lock =
      std::make_shared<HeldLock>(std::move(lock), owner, kind, std::move(session), std::move(node), attempt);
  held_lock->renewal_.emplace(held_lock->session_, held_lock);
  return held_lock;
}

HeldLock::HeldLock(std::shared_ptr<LockTarget> lock, Owner owner, LockKind kind, Session session, CreateResult node,
                   const LockAttempt& attempt)
    : lock_{std::move(lock)},
      owner_{owner},
      kind_{kind},
      attempt_{attempt.number()},
      session_{std::move(session)},
      node_{std::move(node)},
      token_{node_.stat.czxid} {}

HeldLock::~HeldLock() {
  if (!session_.in_forked_child()) conclude();
}

LeaseState HeldLock::state() const noexcept {
  const bool connected = session_.state() == SessionState::connected;
  if (count_.value() == 0) return LeaseState::released;
  if (is_lost()) return LeaseState::lost;  // it reads the clock, so it comes last: the process may be paused in between
  return connected ? LeaseState::held : LeaseState::suspect;
}

bool HeldLock::is_lost() const noexcept {
  if (!lost_ && (is_final(session_.state()) || Clock::now() >= session_.valid_until())) lost_ = true;
  return lost_;
}

void HeldLock::lose() {
  if (local_waiter_) local_waiter_->mark_deleted();
  if (count() == 0) return;  // the reply to its own delete tells
  if (!is_lost()) node_deleted_ = true;
  lost_ = true;
  wake();
  conclude();
}

void HeldLock::on_lapse() {
  if (count() == 0 || !is_lost()) return;
  wake();
  conclude();
}

void HeldLock::on_link(SessionState state) {
  const bool is_suspect = state != SessionState::connected;
  if (!lock_->is_heard() || count() == 0 || concluded_ || is_lost() || is_suspect == is_suspect_) return;
  is_suspect_ = is_suspect;
  tell(*lock_, event(is_suspect ? LockPhase::suspect : LockPhase::held_again));
}

void HeldLock::set_local_waiter(std::shared_ptr<LocalWaiter> local_waiter) {
  local_waiter_ = std::move(local_waiter);
  if (local_waiter_) local_waiter_->grant(weak_from_this());
}

void HeldLock::ask_handoff() {
  if (!local_waiter_) return ask_server();
  local_waiter_->when_told([weak = weak_from_this()](HandoffAction action) {
    const auto self = weak.lock();
    if (self && action == HandoffAction::lose) self->lose();
    if (self && action == HandoffAction::ask_server) self->ask_server();
  });
}

void HeldLock::ask_server() {
  session_.async_exists(
      node_.path, asio::bind_executor(session_.get_executor(), [weak = weak_from_this()](error_code error, auto stat) {
        const auto self = weak.lock();
        if (self && !error && !stat) self->lose();
        if (self && is_retryable(error))
          spawn_detached(self->session_.get_executor(), ask_server_again(weak, self->session_));
      }));
}

Awaitable<void> HeldLock::ask_server_again(std::weak_ptr<HeldLock> weak, Session session) {
  if (const error_code ended = co_await pause_before_retry(session)) co_return;
  if (const auto self = weak.lock()) self->ask_server();
}

// ---- the end

void HeldLock::remove() {
  asio::dispatch(session_.get_executor(), [self = shared_from_this()] {
    Successors successors = self->depart();
    auto removed = [self](error_code outcome) { self->on_removed(outcome); };
    if (!successors.empty())
      return hand_off_in_background(self->session_, self->local_waiter_, std::move(successors), std::move(removed));
    remove_in_background(self->session_, self->node_.path, std::move(removed));
  });
}

Awaitable<error_code> HeldLock::remove_guaranteed(std::shared_ptr<HeldLock> self) {
  Successors successors = self->depart();
  auto removing = successors.empty() ? zklock::remove_guaranteed(self->session_, self->node_.path)
                                     : hand_off_guaranteed(self->session_, self->local_waiter_, std::move(successors));
  const error_code outcome = co_await std::move(removing);
  self->on_removed(outcome);
  co_return outcome;
}

void HeldLock::on_removed(error_code outcome) {
  if (outcome == Error::no_node && !lost_.exchange(true)) node_deleted_ = true;
  if (const auto late_node = std::exchange(late_node_, nullptr)) remove_late_node(session_, *late_node);
  conclude();
}

// ---- the log

LockEvent HeldLock::event(LockPhase phase) const noexcept {
  return {.phase = phase,
          .kind = kind_,
          .attempt = attempt_,
          .session_id = session_.id(),
          .owner = owner_.number(),
          .node_path = node_.path,
          .fencing_token = token_};
}

void HeldLock::conclude() noexcept {
  if (concluded_.exchange(true) || !lock_->is_heard()) return;
  LockEvent end = event(lost_ ? LockPhase::lost : LockPhase::released);
  end.held = Clock::now() - granted_at_;
  if (lost_) end.cause = cause_of_loss();
  tell(*lock_, end);
}

std::string_view HeldLock::cause_of_loss() const noexcept {
  if (node_deleted_) return "node_deleted";
  switch (session_.state()) {
    case SessionState::expired: return "session_expired";
    case SessionState::auth_failed: return "auth_failed";
    case SessionState::closed: return "closed";
    case SessionState::connecting:
    case SessionState::connected:
    case SessionState::suspended:
    case SessionState::read_only: break;
  }
  return "validity_passed";
}

Successors HeldLock::depart() {
  share_.reset();
  Successors successors;
  if (!local_waiter_) return successors;
  if (!is_final(session_.state())) successors = local_waiter_->take_successors();
  local_waiter_->dequeue(session_.get_executor());
  return successors;
}

// ---- waiting

void HeldLock::wake() {
  asio::dispatch(session_.get_executor(), [self = shared_from_this()] {
    for (const auto& each : std::exchange(self->events_, {}))
      if (const auto waiting = each.lock()) {
        waiting->happen();
        self->events_.push_back(each);
      }
  });
}

std::shared_ptr<AsyncEvent> HeldLock::open_event() {
  auto event = std::make_shared<AsyncEvent>(session_.get_executor());
  std::erase_if(events_, [](const auto& other) { return other.expired(); });
  events_.push_back(event);
  return event;
}

// ---- re-entry

HeldLock::Entered HeldLock::enter(LockAttempt* by) {
  const Entered entered = count_.enter();
  if (entered != Entered::yes) return entered;
  count_has_changed();
  if (by) {
    by->entered_again(*this);
  } else if (is_read(*lock_)) {
    LockEvent again = event(LockPhase::reentered);
    again.count = count();
    tell(*lock_, again);
  }
  return entered;
}

bool HeldLock::leave() {
  if (count() == 1) static_cast<void>(is_lost());  // a later end of the session is no loss any more
  if (!count_.leave()) {
    count_has_changed();
    return false;
  }
  renewal_.reset();
  lock_->on_end_of(owner_, kind_);
  return true;
}

/// The node's data follows the count: one write at a time, and the newest value wins.
void HeldLock::count_has_changed() {
  if (writing_.exchange(true)) return;
  asio::dispatch(session_.get_executor(),
                 [self = shared_from_this()] { spawn_detached(self->session_.get_executor(), write_count(self)); });
}

Awaitable<void> HeldLock::write_count(std::shared_ptr<HeldLock> self) {
  for (;;) {
    const std::uint32_t wanted = self->count();
    if (wanted == 0) co_return;  // the node will be deleted, so no further write is needed
    if (const error_code error = co_await write(self, wanted)) break;
    if (self->written_ != self->count()) continue;
    self->writing_ = false;
    // A change after the comparison begins a write of its own, unless it still found writing_ set.
    if (self->written_ == self->count() || self->writing_.exchange(true)) co_return;
  }
  self->writing_ = false;
}

/// Overwrites only data that this client has written. Data that another client has written may be a request to revoke,
/// which stays.
Awaitable<error_code> HeldLock::write(std::shared_ptr<HeldLock> self, std::uint32_t count) {
  const std::string data = format_lock_data({self->lock_->client().client_id(), count});
  for (;;) {
    auto [error, stat] = co_await self->session_.async_set_data(self->node_.path, data, self->version_, use_tuple);
    if (!error) {
      self->version_ = stat.version;
    } else if (error == Error::bad_version) {
      auto [unread, node] = co_await self->session_.async_get_data(self->node_.path, use_tuple);
      error = unread;
      self->on_data(node.data);
      if (self->is_revoked()) co_return make_error_code(Error::bad_version);
      if (!error) self->version_ = node.stat.version;
      if (!error && node.data != data) continue;
    }
    if (!error) {
      self->written_ = count;
      co_return error;
    }
    if (error == Error::no_node) self->lose();
    if (is_retryable(error)) error = co_await pause_before_retry(self->session_);
    if (error) co_return error;
  }
}

void HeldLock::on_data(const std::string& data) {
  if (data != revocation_request || revoked_.exchange(true)) return;
  tell(*lock_, event(LockPhase::revocation_requested));
  wake();
}

// ---- the lease share

LeaseState LeaseShare::state() const noexcept { return released_ ? LeaseState::released : held_lock_->state(); }

Clock::time_point LeaseShare::valid_until() const noexcept {
  const LeaseState now = state();
  const bool ours = now == LeaseState::held || now == LeaseState::suspect;
  return ours ? held_lock_->session().valid_until() : Clock::time_point{};
}

Transaction LeaseShare::guard() const {
  Transaction transaction;
  transaction.check(held_lock_->node().path);
  return transaction;
}

bool LeaseShare::end() {
  if (released_.exchange(true)) return false;
  held_lock_->wake();
  return true;
}

}  // namespace detail
}  // namespace zklock
