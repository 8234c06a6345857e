#include "holding.hpp"

#include <zklock/client_id.hpp>
#include <zklock/detail/steps.hpp>

#include <variant>

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
      client_id_{std::move(client_id)},
      ended_{std::move(ended)} {}

LeaseState Holding::state() const noexcept {
  if (count_ == 0) return LeaseState::released;
  const SessionState session = session_.state();
  if (is_final(session)) return LeaseState::lost;
  return session == SessionState::connected ? LeaseState::held : LeaseState::suspect;
}

Holding::Entered Holding::enter() {
  std::uint32_t count = count_;
  do {
    if (count == 0) return Entered::ended;
    if (count == INT32_MAX) return Entered::too_often;
  } while (!count_.compare_exchange_weak(count, count + 1));
  count_has_changed();
  return Entered::yes;
}

bool Holding::leave() {
  if (--count_ > 0) {
    count_has_changed();
    return false;
  }
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
    const std::uint32_t wanted = self->count_;
    if (wanted == 0) co_return;  // the node goes, and with it the need for another write
    std::string data = format_lock_data({self->client_id_, wanted});
    auto [error, stat] = co_await self->session_.async_set_data(self->node_.path, std::move(data), use_tuple);
    if (!error) self->written_ = wanted;
    if (is_retryable(error)) error = co_await pause_before_retry(self->session_);
    if (error) break;
    if (self->written_ != self->count_) continue;
    self->writing_ = false;
    // A change since the comparison begins a write of its own, unless it still saw ours.
    if (self->written_ == self->count_ || self->writing_.exchange(true)) co_return;
  }
  self->writing_ = false;
}

LeaseState Hold::state() const noexcept { return released_ ? LeaseState::released : holding_->state(); }

bool Hold::end() noexcept {
  if (released_.exchange(true)) return false;
  asio::dispatch(holding_->session().get_executor(), [self = shared_from_this()] {
    for (const auto& gate : std::exchange(self->gates_, {}))
      if (const auto waiting = gate.lock()) waiting->cancel();
  });
  return true;
}

std::shared_ptr<Timer> Hold::open_gate() {
  auto gate = std::make_shared<Timer>(holding_->session().get_executor(), Clock::time_point::max());
  std::erase_if(gates_, [](const auto& other) { return other.expired(); });
  gates_.push_back(gate);
  return gate;
}

namespace {

using Done = std::monostate;

Awaitable<Result<Done>> release(std::shared_ptr<Hold> hold) {
  if (!hold->end()) co_return make_error_code(Error::not_owner);
  const std::shared_ptr<Holding> holding = hold->shared_holding();
  if (!holding->leave()) {
    if (holding->state() == LeaseState::lost) co_return make_error_code(Error::lock_lost);
    co_return Done{};
  }
  const error_code error = co_await remove_for_sure(holding->session(), holding->node().path);
  if (!error) co_return Done{};
  if (error == Error::no_node || is_final(holding->session().state())) co_return make_error_code(Error::lock_lost);
  co_return error;
}

Awaitable<Result<Done>> wait_lost(std::shared_ptr<Hold> hold) {
  SessionStateStream states = hold->holding().session().states();
  const std::shared_ptr<Timer> gate = hold->open_gate();
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  for (;;) {
    if (hold->state() == LeaseState::lost) co_return Done{};
    if (hold->state() == LeaseState::released || cancellation.cancelled() != asio::cancellation_type::none)
      co_return make_error_code(asio::error::operation_aborted);
    auto wake = asio::bind_executor(hold->holding().session().get_executor(),
                                    [gate](error_code, SessionState) { gate->cancel(); });
    states.async_next(std::move(wake));
    co_await gate->async_wait(use_tuple);
  }
}

/// The erased handlers of operations without a result take no value.
Handler<Done> without_result(const std::shared_ptr<Hold>& hold, Handler<> handler) {
  auto slot = asio::get_associated_cancellation_slot(handler);
  auto executor = asio::get_associated_executor(handler);
  return asio::bind_cancellation_slot(
      slot, asio::bind_executor(executor, [hold, handler = std::move(handler)](error_code error, Done) mutable {
        std::move(handler)(error);
      }));
}

}  // namespace

asio::any_io_executor callback_executor(const Hold& hold) { return hold.holding().session().callback_executor(); }

void refuse_after_fork(const Hold& hold) {
  if (hold.holding().session().in_forked_child())
    throw boost::system::system_error{make_error_code(Error::used_after_fork), hold.holding().node().path};
}

void start_release(std::shared_ptr<Hold> hold, Handler<> handler) {
  const auto serial = hold->holding().session().get_executor();
  auto finish = [handler = std::move(handler)](const std::exception_ptr& thrown, Result<Done> result) mutable {
    const error_code error = thrown ? code_of(thrown) : result ? error_code{} : result.error();
    asio::dispatch(asio::append(std::move(handler), error));
  };
  asio::post(serial, [serial, hold = std::move(hold), finish = std::move(finish)]() mutable {
    asio::co_spawn(serial, release(std::move(hold)), std::move(finish));
  });
}

void start_wait_lost(std::shared_ptr<Hold> hold, Handler<> handler) {
  const auto serial = hold->holding().session().get_executor();
  auto body = wait_lost(hold);
  spawn_operation(serial, {}, without_result(hold, std::move(handler)), std::move(body), hold);
}

void release_in_background(const std::shared_ptr<Hold>& hold) noexcept {
  if (!hold || hold->holding().session().in_forked_child() || !hold->end()) return;
  if (hold->holding().leave()) remove_in_background(hold->holding().session(), hold->holding().node().path);
}

}  // namespace detail

LeaseState Lease::state() const noexcept { return hold_ ? hold_->state() : LeaseState::released; }
std::int64_t Lease::fencing_token() const noexcept { return hold_ ? hold_->holding().node().stat.czxid : 0; }
std::string Lease::node_path() const { return hold_ ? hold_->holding().node().path : std::string{}; }
std::uint32_t Lease::count() const noexcept { return hold_ ? hold_->holding().count() : 0; }

}  // namespace zklock
