#include "holding.hpp"
#include "lease_news.hpp"
#include "unattended.hpp"
#include "without_result.hpp"

#include <zklock/detail/existing.hpp>
#include <zklock/detail/steps.hpp>

#include <algorithm>

namespace zklock {

namespace detail {

namespace {

Awaitable<error_code> release(std::shared_ptr<Hold> hold) {
  const std::shared_ptr<Holding> holding = hold->shared_holding();
  const bool lost = holding->is_lost();
  if (!hold->end()) co_return make_error_code(Error::not_owner);
  error_code error;
  if (holding->leave()) error = co_await Holding::remove_for_sure(holding);
  if (lost || error == Error::no_node || is_final(holding->session().state()))
    co_return make_error_code(Error::lock_lost);
  co_return error;
}

void start_wait(std::shared_ptr<Hold> hold, LeaseNews news, Handler<> handler) {
  const auto serial = hold->holding().session().get_executor();
  auto body = await_news(hold, news);
  spawn_operation(serial, {}, without_result(std::move(handler)), std::move(body), hold);
}

}  // namespace

asio::any_io_executor serial_executor(const Hold& hold) { return hold.holding().session().get_executor(); }
asio::any_io_executor callback_executor(const Hold& hold) { return hold.holding().session().callback_executor(); }

void refuse_after_fork(const Hold& hold) {
  if (hold.holding().session().in_forked_child())
    throw boost::system::system_error{make_error_code(Error::used_after_fork), hold.holding().node().path};
}

/// The delete is none of those who give up waiting for it.
void start_release(std::shared_ptr<Hold> hold, Deadline deadline, Handler<> handler) {
  const auto serial = hold->holding().session().get_executor();
  auto waiting = Unattended::of(std::move(handler), serial);
  asio::post(serial, [serial, deadline, hold = std::move(hold), waiting = std::move(waiting)]() mutable {
    waiting->give_up_at(deadline, serial);
    asio::co_spawn(serial, release(std::move(hold)), [waiting](const std::exception_ptr& thrown, error_code outcome) {
      waiting->complete(thrown ? code_of(thrown) : outcome);
    });
  });
}

void start_wait_lost(std::shared_ptr<Hold> hold, Handler<> handler) {
  start_wait(std::move(hold), LeaseNews::lost, std::move(handler));
}

void start_wait_revocation(std::shared_ptr<Hold> hold, Handler<> handler) {
  start_wait(std::move(hold), LeaseNews::revocation, std::move(handler));
}

void release_in_background(const std::shared_ptr<Hold>& hold) noexcept {
  if (!hold || hold->holding().session().in_forked_child() || !hold->end()) return;
  if (hold->holding().leave()) hold->holding().remove();
}

}  // namespace detail

LeaseState Lease::state() const noexcept { return hold_ ? hold_->state() : LeaseState::released; }
Clock::time_point Lease::valid_until() const noexcept { return hold_ ? hold_->valid_until() : Clock::time_point{}; }
Clock::duration Lease::remaining() const noexcept { return std::max(valid_until() - Clock::now(), Clock::duration{}); }
std::int64_t Lease::fencing_token() const noexcept { return hold_ ? hold_->holding().fencing_token() : 0; }
std::string Lease::node_path() const { return hold_ ? hold_->holding().node().path : std::string{}; }
std::uint32_t Lease::count() const noexcept { return hold_ ? hold_->holding().count() : 0; }
Transaction Lease::guard() const { return detail::existing(hold_).guard(); }

}  // namespace zklock
