#include "held_lock.hpp"

#include "kept_lock_node.hpp"
#include "kept_reader_node.hpp"

#include <zklock/recipe_kit/session_ops.hpp>
#include <zklock/recipes/locks/lock_data.hpp>
#include <zklock/recipes/locks/revocation.hpp>

#include <algorithm>
#include <utility>

namespace zklock {
namespace detail {

std::shared_ptr<HeldLock> HeldLock::make(const std::shared_ptr<LockTarget>& lock, Owner owner, LockKind kind,
                                         Granted granted, LockAttempt& told) {
  auto held_lock =
      std::make_shared<HeldLock>(lock, owner, kind, std::move(granted.session), std::move(granted.node), told.number());
  held_lock->renewal_.emplace(held_lock->session(), held_lock);
  if (granted.token) held_lock->token_ = *granted.token;
  held_lock->front_ = std::move(granted.front);
  held_lock->place_.keep(std::move(granted.share));
  held_lock->place_.expect_late_node(std::move(granted.late_node));
  held_lock->place_.set_local_waiter(std::move(granted.local_waiter), held_lock);
  held_lock->limit(granted.max_hold);
  lock->add(held_lock);
  told.granted(*held_lock);
  if (granted.check == NodeCheck::by_handoff) held_lock->act_on(held_lock->place_.local_waiter()->on_granted());
  if (granted.check == NodeCheck::by_server) held_lock->ask_server();
  return held_lock;
}

std::shared_ptr<HeldLock> HeldLock::make_on(std::shared_ptr<KeptLockNode> kept, Owner owner, const KeepSettings& how,
                                            std::uint64_t attempt) {
  auto held_lock =
      std::make_shared<HeldLock>(kept->lock(), owner, kept->kind(), kept->session(), kept->node(), attempt);
  held_lock->token_ = kept->token();
  if (how.keeping == Keeping::confirmed) held_lock->guarded_version_ = kept->version();
  kept->hold(held_lock);
  held_lock->kept_ = std::move(kept);
  held_lock->limit(how.max_hold);
  return held_lock;
}

std::shared_ptr<HeldLock> HeldLock::make_beside(std::shared_ptr<KeptReaderNode> kept, Owner owner,
                                                const KeepSettings& how, std::uint64_t attempt) {
  auto held_lock =
      std::make_shared<HeldLock>(kept->lock(), owner, LockKind::read, kept->session(), kept->node(), attempt);
  held_lock->kept_ = std::move(kept);
  held_lock->limit(how.max_hold);
  return held_lock;
}

HeldLock::HeldLock(std::shared_ptr<LockTarget> lock, Owner owner, LockKind kind, Session session, CreateResult node,
                   std::uint64_t attempt)
    : lock_{std::move(lock)},
      owner_{owner},
      kind_{kind},
      attempt_{attempt},
      place_{std::move(session), std::move(node)},
      token_{place_.node().stat.czxid} {}

HeldLock::~HeldLock() {
  if (!session().in_forked_child()) conclude();
}

LeaseState HeldLock::state() const noexcept {
  const bool connected = session().state() == SessionState::connected;
  if (count_.value() == 0) return LeaseState::released;
  if (is_lost()) return LeaseState::lost;  // it reads the clock, so it comes last: the process may be paused in between
  return connected ? LeaseState::held : LeaseState::suspect;
}

bool HeldLock::is_lost() const noexcept {
  if (loss_ == Loss::none) note(loss_of(session()));
  if (loss_ == Loss::none && is_over_limit(Clock::now())) note(Loss::max_hold_passed);
  return loss_ != Loss::none;
}

void HeldLock::note(Loss loss) const noexcept {
  Loss none = Loss::none;
  loss_.compare_exchange_strong(none, loss);
}

/// A session that is closed when its validity has passed ends no lease any more.
HeldLock::Loss HeldLock::loss_of(const Session& session) noexcept {
  const SessionState state = session.state();
  const bool has_passed = Clock::now() >= session.valid_until();
  if (state == SessionState::expired) return Loss::session_expired;
  if (state == SessionState::auth_failed) return Loss::auth_failed;
  if (has_passed) return Loss::validity_passed;
  return state == SessionState::closed ? Loss::closed : Loss::none;
}

Clock::time_point HeldLock::valid_until() const noexcept {
  return std::min(session().valid_until(), Clock::time_point{Clock::duration{limit_}});
}

void HeldLock::lose() {
  if (kept_) kept_->lose();
  place_.mark_deleted();
  if (count() == 0) return;  // the reply to its own delete tells
  if (!is_lost()) note(Loss::node_deleted);
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

void HeldLock::act_on(HandoffAction action) {
  if (action == HandoffAction::lose) lose();
  if (action == HandoffAction::ask_server) ask_server();
}

void HeldLock::ask_server() {
  session().async_exists(node().path, asio::bind_executor(session().get_executor(), [weak = weak_from_this()](
                                                                                        error_code error, auto stat) {
                           const auto self = weak.lock();
                           if (self && !error && !stat) self->lose();
                           if (self && is_retryable(error))
                             spawn_detached(self->session().get_executor(), ask_server_again(weak, self->session()));
                         }));
}

Awaitable<void> HeldLock::ask_server_again(std::weak_ptr<HeldLock> weak, Session session) {
  if (const error_code ended = co_await pause_before_retry(session)) co_return;
  if (const auto self = weak.lock()) self->ask_server();
}

// ---- the longest hold

void HeldLock::limit(Clock::duration max_hold) {
  if (max_hold <= max_hold.zero()) return;
  limit_ = (granted_at_ + max_hold).time_since_epoch().count();
  asio::dispatch(session().get_executor(), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->await_limit();
  });
}

void HeldLock::await_limit() {
  auto timer = limit_timer_.lock();
  if (!timer) limit_timer_ = timer = std::make_shared<Timer>(session().get_executor());
  timer->expires_at(Clock::time_point{Clock::duration{limit_}});
  timer->async_wait([weak = weak_from_this(), timer](error_code error) {
    const auto self = weak.lock();
    if (self && !error && self->count() > 0) self->on_limit();
  });
}

/// The lease is lost before the delete is sent.
void HeldLock::on_limit() {
  if (!is_over_limit(Clock::now())) return await_limit();  // it was extended
  if (is_lost()) wake();
  conclude();
  if (end_node()) remove();
}

/// From then on it cannot be extended.
bool HeldLock::is_over_limit(Clock::time_point now) const noexcept {
  for (Clock::rep limit = limit_; limit == limit_passed || now.time_since_epoch().count() >= limit;)
    if (limit == limit_passed || limit_.compare_exchange_weak(limit, limit_passed)) return true;
  return false;
}

bool HeldLock::extend(Clock::time_point until) noexcept {
  const Clock::rep wanted = until.time_since_epoch().count();
  for (Clock::rep limit = limit_; limit != limit_passed && limit < wanted;)
    if (limit_.compare_exchange_weak(limit, wanted)) break;
  return count() > 0 && !is_lost();
}

// ---- the end

bool HeldLock::end_node() {
  if (node_ended_.exchange(true)) return false;
  return !kept_ || kept_->take_back(*this);
}

void HeldLock::remove(std::function<void(error_code)> removed) {
  auto conclude = [self = shared_from_this(), removed = std::move(removed)](error_code outcome) {
    if (outcome == Error::no_node) self->note(Loss::node_deleted);
    self->conclude();
    if (removed) removed(outcome);
  };
  if (kept_) return kept_->remove(std::move(conclude));
  asio::dispatch(session().get_executor(), [self = shared_from_this(), conclude = std::move(conclude)]() mutable {
    const KeptLock::Front front = std::move(self->front_);  // it leaves once the delete is sent
    self->place_.remove(std::move(conclude));
  });
}

// ---- the log

LockEvent HeldLock::event(LockPhase phase) const noexcept {
  return {.phase = phase,
          .kind = kind_,
          .attempt = attempt_,
          .session_id = session().id(),
          .owner = owner_.number(),
          .node_path = node().path,
          .fencing_token = token_};
}

void HeldLock::conclude() noexcept {
  if (concluded_.exchange(true) || !lock_->is_heard()) return;
  const Loss loss = loss_;
  LockEvent end = event(loss == Loss::none ? LockPhase::released : LockPhase::lost);
  end.held = Clock::now() - granted_at_;
  end.cause = name_of(loss);
  tell(*lock_, end);
}

std::string_view HeldLock::name_of(Loss loss) noexcept {
  switch (loss) {
    case Loss::none: break;
    case Loss::session_expired: return "session_expired";
    case Loss::validity_passed: return "validity_passed";
    case Loss::max_hold_passed: return "max_hold_passed";
    case Loss::node_deleted: return "node_deleted";
    case Loss::auth_failed: return "auth_failed";
    case Loss::closed: return "closed";
  }
  return {};
}

// ---- waiting

void HeldLock::wake() {
  if (!is_awaited_) return;
  asio::dispatch(session().get_executor(), [self = shared_from_this()] {
    for (const auto& each : std::exchange(self->events_, {}))
      if (const auto waiting = each.lock()) {
        waiting->happen();
        self->events_.add(each);
      }
  });
}

std::shared_ptr<AsyncEvent> HeldLock::open_event() {
  is_awaited_ = true;
  auto event = std::make_shared<AsyncEvent>(session().get_executor());
  events_.add(event);
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
  if (limit_ != std::numeric_limits<Clock::rep>::max())
    asio::dispatch(session().get_executor(), [self = shared_from_this()] {
      if (const auto timer = self->limit_timer_.lock()) timer->cancel();
    });
  if (end_node()) return true;
  conclude();
  return false;
}

/// The node's data follows the count: one write at a time, and the newest value wins.
void HeldLock::count_has_changed() {
  if (kept_) return;  // its version belongs to the confirmations
  if (writing_.exchange(true)) return;
  asio::dispatch(session().get_executor(),
                 [self = shared_from_this()] { spawn_detached(self->session().get_executor(), write_count(self)); });
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
    auto [error, stat] = co_await self->session().async_set_data(self->node().path, data, self->version_, use_tuple);
    if (!error) {
      self->version_ = stat.version;
    } else if (error == Error::bad_version) {
      auto [unread, node] = co_await self->session().async_get_data(self->node().path, use_tuple);
      error = unread;
      self->on_data(node);
      if (self->is_revoked()) co_return make_error_code(Error::bad_version);
      if (!error) self->version_ = node.stat.version;
      if (!error && node.data != data) continue;
    }
    if (!error) {
      self->written_ = count;
      co_return error;
    }
    if (error == Error::no_node) self->lose();
    if (is_retryable(error)) error = co_await pause_before_retry(self->session());
    if (error) co_return error;
  }
}

void HeldLock::on_data(const DataResult& node) {
  if (node.data != revocation_request || count() == 0) return;  // then the version may be that of a later grant
  if (guarded_version_ != any_version) guarded_version_ = node.stat.version;
  if (revoked_.exchange(true)) return;
  tell(*lock_, event(LockPhase::revocation_requested));
  wake();
}

}  // namespace detail
}  // namespace zklock
