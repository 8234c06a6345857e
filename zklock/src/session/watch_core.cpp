#include "watch_core.hpp"

#include "session_request.hpp"

#include <boost/asio/dispatch.hpp>

namespace zklock::detail {

void WatchCore::on_watch_event(error_code error, const WatchPlace&, WatchEventType type) {
  if (done_.exchange(true)) return;  // given up while the event was on its way
  outcome_ = Outcome{error, type};
  if (!waiter_) return;
  Handler<WatchEvent> waiter{std::move(*waiter_)};
  waiter_.reset();
  deliver(std::move(waiter), outcome_->error, event());
}

void WatchCore::wait(std::uint64_t number, Handler<WatchEvent> handler) {
  if (outcome_) return deliver_later(session_->runtime(), std::move(handler), outcome_->error, event());
  if (waiter_)
    return deliver_later(session_->runtime(), std::move(handler), make_error_code(Error::invalid_state), WatchEvent{});
  waiter_.emplace(std::move(handler));
  waiting_ = number;
}

void WatchCore::cancel_wait(std::uint64_t number) {
  if (waiting_ == number) abort_wait();
}

void WatchCore::abort_wait() {
  if (!waiter_) return;
  Handler<WatchEvent> waiter{std::move(*waiter_)};
  waiter_.reset();
  deliver_later(session_->runtime(), std::move(waiter), make_error_code(asio::error::operation_aborted), WatchEvent{});
}

void WatchCore::give_up() {
  session_->driver().forget_watch(*this, {kind_, full_path(session_, path_)});
  if (done_.exchange(true)) return;
  outcome_ = Outcome{make_error_code(asio::error::operation_aborted)};  // for a wait that is still queued
  abort_wait();
}

void WatchSetCore::on_watch_event(error_code error, const WatchPlace& place, WatchEventType type) {
  if (error) return;
  if (const auto listener = listener_.lock())
    listener->on_watch_event(place.kind, {type, from_server(session_, place.path)});
}

Runtime& home_of(const WatchCore& watch) { return watch.session().runtime(); }

void start_watch_wait(std::shared_ptr<WatchCore> watch, Handler<WatchEvent> handler) {
  const auto serial = watch->session().runtime().serial();
  const std::uint64_t number = watch->next_wait();
  on_cancellation(handler, [weak = std::weak_ptr{watch}, serial, number] {
    asio::post(serial, [weak, number] {  // runs after the start, which may still be queued
      if (const auto self = weak.lock()) self->cancel_wait(number);
    });
  });
  asio::dispatch(serial, [watch = std::move(watch), number, handler = std::move(handler)]() mutable {
    watch->wait(number, std::move(handler));
  });
}

bool is_set(const WatchCore& watch) noexcept { return !watch.done(); }

void abandon(const std::shared_ptr<WatchCore>& watch) noexcept {
  if (!watch || watch->done() || watch->session().runtime().in_forked_child()) return;
  asio::dispatch(watch->session().runtime().serial(), [watch] { watch->give_up(); });
}

}  // namespace zklock::detail
