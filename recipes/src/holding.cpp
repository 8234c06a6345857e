#include "holding.hpp"

#include "hand_over.hpp"

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

Holding::Holding(Session session, CreateResult node, std::string client_id, std::function<void()> ended)
    : session_{std::move(session)},
      node_{std::move(node)},
      token_{node_.stat.czxid},
      client_id_{std::move(client_id)},
      ended_{std::move(ended)},
      renewal_{session_} {}

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
  lost_ = true;
  if (sibling_) sibling_->vanish();
  wake();
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
    if (!heirs.empty()) return hand_over_in_background(self->session_, self->sibling_, std::move(heirs));
    remove_in_background(self->session_, self->node_.path, [sibling = self->sibling_](error_code outcome) {
      if (sibling) sibling->on_removed(outcome);
    });
  });
}

Awaitable<error_code> Holding::remove_for_sure(std::shared_ptr<Holding> self) {
  Heirs heirs = self->depart();
  auto removing = heirs.empty() ? zklock::remove_for_sure(self->session_, self->node_.path)
                                : hand_over_for_sure(self->session_, self->sibling_, std::move(heirs));
  const error_code outcome = co_await std::move(removing);
  if (self->sibling_) self->sibling_->on_removed(outcome);
  co_return outcome;
}

Heirs Holding::depart() {
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

Holding::Entered Holding::enter() {
  const Entered entered = count_.enter();
  if (entered == Entered::yes) count_has_changed();
  return entered;
}

bool Holding::leave() {
  if (!count_.leave()) {
    count_has_changed();
    return false;
  }
  renewal_.reset();
  ended_();
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
  const std::string data = format_lock_data({self->client_id_, count});
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
  if (data == revocation_request && !revoked_.exchange(true)) wake();
}

// ---- one share

LeaseState Hold::state() const noexcept { return released_ ? LeaseState::released : holding_->state(); }

Clock::time_point Hold::valid_until() const noexcept {
  const LeaseState now = state();
  const bool ours = now == LeaseState::held || now == LeaseState::suspect;
  return ours ? holding_->session().valid_until() : Clock::time_point::min();
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
