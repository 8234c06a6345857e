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

Holding::Holding(Session session, CreateResult node, std::string client_id)
    : session_{std::move(session)}, node_{std::move(node)}, client_id_{std::move(client_id)} {}

LeaseState Holding::state() const noexcept {
  if (released_) return LeaseState::released;
  const SessionState session = session_.state();
  if (is_final(session)) return LeaseState::lost;
  return session == SessionState::connected ? LeaseState::held : LeaseState::suspect;
}

bool Holding::end() noexcept {
  if (released_.exchange(true)) return false;
  asio::dispatch(session_.get_executor(), [self = shared_from_this()] {
    for (const auto& gate : std::exchange(self->gates_, {}))
      if (const auto waiting = gate.lock()) waiting->cancel();
  });
  return true;
}

std::shared_ptr<Timer> Holding::open_gate() {
  auto gate = std::make_shared<Timer>(session_.get_executor(), Clock::time_point::max());
  std::erase_if(gates_, [](const auto& other) { return other.expired(); });
  gates_.push_back(gate);
  return gate;
}

void Holding::set_count(std::uint32_t count) {
  count_ = count;
  asio::dispatch(session_.get_executor(), [self = shared_from_this()] {
    if (!std::exchange(self->writing_, true)) spawn_detached(self->session_.get_executor(), write_count(self));
  });
}

Awaitable<void> Holding::write_count(std::shared_ptr<Holding> self) {
  error_code error;
  while (!error && !self->released_ && self->written_ != self->count_) {
    const std::uint32_t wanted = self->count_;
    std::string data = format_lock_data({self->client_id_, wanted});
    const auto [failed, stat] = co_await self->session_.async_set_data(self->node_.path, std::move(data), use_tuple);
    if (!failed) self->written_ = wanted;
    error = failed;
    if (is_retryable(failed)) error = co_await pause_before_retry(self->session_);
  }
  self->writing_ = false;
}

namespace {

using Done = std::monostate;

Awaitable<Result<Done>> release(std::shared_ptr<Holding> holding) {
  if (!holding->end()) co_return make_error_code(Error::not_owner);
  const error_code error = co_await remove_for_sure(holding->session(), holding->node().path);
  if (!error) co_return Done{};
  if (error == Error::no_node || is_final(holding->session().state())) co_return make_error_code(Error::lock_lost);
  co_return error;
}

Awaitable<Result<Done>> wait_lost(std::shared_ptr<Holding> holding) {
  SessionStateStream states = holding->session().states();
  const std::shared_ptr<Timer> gate = holding->open_gate();
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  for (;;) {
    if (holding->state() == LeaseState::lost) co_return Done{};
    if (holding->state() == LeaseState::released || cancellation.cancelled() != asio::cancellation_type::none)
      co_return make_error_code(asio::error::operation_aborted);
    auto wake =
        asio::bind_executor(holding->session().get_executor(), [gate](error_code, SessionState) { gate->cancel(); });
    states.async_next(std::move(wake));
    co_await gate->async_wait(use_tuple);
  }
}

/// The erased handlers of operations without a result take no value.
Handler<Done> without_result(const std::shared_ptr<Holding>& holding, Handler<> handler) {
  auto slot = asio::get_associated_cancellation_slot(handler);
  auto executor = asio::get_associated_executor(handler);
  return asio::bind_cancellation_slot(
      slot, asio::bind_executor(executor, [holding, handler = std::move(handler)](error_code error, Done) mutable {
        std::move(handler)(error);
      }));
}

}  // namespace

asio::any_io_executor callback_executor(const Holding& holding) { return holding.session().callback_executor(); }

void refuse_after_fork(const Holding& holding) {
  if (holding.session().in_forked_child())
    throw boost::system::system_error{make_error_code(Error::used_after_fork), holding.node().path};
}

void start_release(std::shared_ptr<Holding> holding, Handler<> handler) {
  const auto serial = holding->session().get_executor();
  auto finish = [handler = std::move(handler)](const std::exception_ptr& thrown, Result<Done> result) mutable {
    const error_code error = thrown ? code_of(thrown) : result ? error_code{} : result.error();
    asio::dispatch(asio::append(std::move(handler), error));
  };
  asio::post(serial, [serial, holding = std::move(holding), finish = std::move(finish)]() mutable {
    asio::co_spawn(serial, release(std::move(holding)), std::move(finish));
  });
}

void start_wait_lost(std::shared_ptr<Holding> holding, Handler<> handler) {
  const auto serial = holding->session().get_executor();
  auto body = wait_lost(holding);
  spawn_operation(serial, {}, without_result(holding, std::move(handler)), std::move(body), holding);
}

void release_in_background(const std::shared_ptr<Holding>& holding) noexcept {
  if (holding && !holding->session().in_forked_child() && holding->end())
    remove_in_background(holding->session(), holding->node().path);
}

}  // namespace detail

LeaseState Lease::state() const noexcept { return holding_ ? holding_->state() : LeaseState::released; }
std::int64_t Lease::fencing_token() const noexcept { return holding_ ? holding_->node().stat.czxid : 0; }
std::string Lease::node_path() const { return holding_ ? holding_->node().path : std::string{}; }
std::uint32_t Lease::count() const noexcept { return holding_ ? holding_->count() : 0; }

}  // namespace zklock
