#include "holding.hpp"

#include "hand_over.hpp"
#include "lock_core.hpp"

#include <zklock/client_id.hpp>
#include <zklock/detail/steps.hpp>
#include <zklock/recipes/revocation.hpp>

#include <utility>

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

Holding::Holding(std::shared_ptr<LockCore> lock, Owner owner, LockKind kind, Session session, CreateResult node,
                 const LockAttempt& attempt)
    : lock_{std::move(lock)},
      owner_{owner},
      kind_{kind},
      attempt_{attempt.number()},
      session_{std::move(session)},
      node_{std::move(node)},
      token_{node_.stat.czxid} {}

Holding::~Holding() {
  if (!session_.in_forked_child()) conclude();
}

void Holding::keep_alive() { renewal_.emplace(session_, weak_from_this()); }

LeaseState Holding::state() const noexcept {
  const bool connected = session_.state() == SessionState::connected;
  if (count_.value() == 0) return LeaseState::released;
  if (is_lost()) return LeaseState::lost;  // looks at the clock, and last: the process may be paused in between
  return connected ? LeaseState::held : LeaseState::suspect;
}

bool Holding::is_lost() const noexcept {
  if (!lost_ && (is_final(session_.state()) || Clock::now() >= session_.valid_until())) lost_ = true;
  return lost_;
}

void Holding::lose() {
  if (!is_lost()) vanished_ = true;
  lost_ = true;
  if (sibling_) sibling_->vanish();
  wake();
  conclude();
}

void Holding::on_lapse() {
  if (count() == 0 || !is_lost()) return;
  wake();
  conclude();
}

void Holding::stand_as(std::shared_ptr<Sibling> sibling) {
  sibling_ = std::move(sibling);
  if (sibling_) sibling_->grant();
}

void Holding::verify() {
  auto seen = [weak = weak_from_this()](error_code error) {
    const auto self = weak.lock();
    if (!self || !error) return;
    if (error == Error::no_node || error == Error::lock_lost) return self->lose();
    self->look();
  };
  if (!sibling_ || !sibling_->when_seen(std::move(seen))) look();
}

void Holding::look() {
  session_.async_exists(
      node_.path, asio::bind_executor(session_.get_executor(), [weak = weak_from_this()](error_code error, auto stat) {
        const auto self = weak.lock();
        if (self && !error && !stat) self->lose();
        if (self && is_retryable(error))
          spawn_detached(self->session_.get_executor(), look_again(weak, self->session_));
      }));
}

Awaitable<void> Holding::look_again(std::weak_ptr<Holding> weak, Session session) {
  if (const error_code ended = co_await pause_before_retry(session)) co_return;
  if (const auto self = weak.lock()) self->look();
}

// ---- the end

void Holding::remove() {
  asio::dispatch(session_.get_executor(), [self = shared_from_this()] {
    Heirs heirs = self->depart();
    auto removed = [self](error_code outcome) { self->on_removed(outcome); };
    if (!heirs.empty())
      return hand_over_in_background(self->session_, self->sibling_, std::move(heirs), std::move(removed));
    remove_in_background(self->session_, self->node_.path, std::move(removed));
  });
}

Awaitable<error_code> Holding::remove_for_sure(std::shared_ptr<Holding> self) {
  Heirs heirs = self->depart();
  auto removing = heirs.empty() ? zklock::remove_for_sure(self->session_, self->node_.path)
                                : hand_over_for_sure(self->session_, self->sibling_, std::move(heirs));
  const error_code outcome = co_await std::move(removing);
  self->on_removed(outcome);
  co_return outcome;
}

void Holding::on_removed(error_code outcome) {
  if (sibling_) sibling_->on_removed(outcome);
  const bool was_gone = outcome == Error::no_node || (sibling_ && sibling_->was_misled());
  if (was_gone && !lost_.exchange(true)) vanished_ = true;
  conclude();
}

// ---- what is told

LockEvent Holding::event(LockPhase phase) const noexcept {
  return {.phase = phase,
          .kind = kind_,
          .attempt = attempt_,
          .session = &session_,
          .node_path = node_.path,
          .token = token_};
}

void Holding::conclude() noexcept {
  if (concluded_.exchange(true)) return;
  LockEvent end = event(lost_ ? LockPhase::lost : LockPhase::released);
  end.held = Clock::now() - granted_at_;
  if (lost_) end.cause = cause_of_loss();
  tell(*lock_, end);
}

std::string_view Holding::cause_of_loss() const noexcept {
  if (vanished_) return "node_deleted";
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

Heirs Holding::depart() {
  share_.reset();
  Heirs heirs;
  if (!sibling_) return heirs;
  if (!is_final(session_.state())) heirs = sibling_->take_heirs();
  sibling_->leave(session_.get_executor());
  return heirs;
}

// ---- waiting

void Holding::wake() {
  asio::dispatch(session_.get_executor(), [self = shared_from_this()] {
    for (const auto& gate : std::exchange(self->gates_, {}))
      if (const auto waiting = gate.lock()) {
        waiting->cancel();
        self->gates_.push_back(gate);
      }
  });
}

std::shared_ptr<Timer> Holding::open_gate() {
  auto gate = std::make_shared<Timer>(session_.get_executor());
  std::erase_if(gates_, [](const auto& other) { return other.expired(); });
  gates_.push_back(gate);
  return gate;
}

// ---- how many times over

Holding::Entered Holding::enter(LockAttempt* by) {
  const Entered entered = count_.enter();
  if (entered != Entered::yes) return entered;
  count_has_changed();
  if (by) {
    by->entered_again(*this);
  } else if (is_read(*lock_)) {
    LockEvent again = event(LockPhase::entered_again);
    again.count = count();
    tell(*lock_, again);
  }
  return entered;
}

bool Holding::leave() {
  if (count() == 1) static_cast<void>(is_lost());  // what happens to the session afterwards is no loss any more
  if (!count_.leave()) {
    count_has_changed();
    return false;
  }
  renewal_.reset();
  lock_->on_end_of(owner_, kind_);
  return true;
}

/// The node's data follow the count: one write under way at a time, the newest value wins.
void Holding::count_has_changed() {
  if (writing_.exchange(true)) return;
  asio::dispatch(session_.get_executor(),
                 [self = shared_from_this()] { spawn_detached(self->session_.get_executor(), write_count(self)); });
}

Awaitable<void> Holding::write_count(std::shared_ptr<Holding> self) {
  for (;;) {
    const std::uint32_t wanted = self->count();
    if (wanted == 0) co_return;  // the node goes, and with it the need for another write
    if (const error_code error = co_await write(self, wanted)) break;
    if (self->written_ != self->count()) continue;
    self->writing_ = false;
    // A change since the comparison begins a write of its own, unless it still saw ours.
    if (self->written_ == self->count() || self->writing_.exchange(true)) co_return;
  }
  self->writing_ = false;
}

/// Writes over our own data only: where somebody else has written, that may be a request to revoke, which stays.
Awaitable<error_code> Holding::write(std::shared_ptr<Holding> self, std::uint32_t count) {
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

void Holding::on_data(const std::string& data) {
  if (data != revocation_request || revoked_.exchange(true)) return;
  tell(*lock_, event(LockPhase::revocation_requested));
  wake();
}

// ---- one share

LeaseState Hold::state() const noexcept { return released_ ? LeaseState::released : holding_->state(); }

Clock::time_point Hold::valid_until() const noexcept {
  const LeaseState now = state();
  const bool ours = now == LeaseState::held || now == LeaseState::suspect;
  return ours ? holding_->session().valid_until() : Clock::time_point{};
}

Transaction Hold::guard() const {
  Transaction transaction;
  transaction.check(holding_->node().path);
  return transaction;
}

bool Hold::end() {
  if (released_.exchange(true)) return false;
  holding_->wake();
  return true;
}

}  // namespace detail
}  // namespace zklock
