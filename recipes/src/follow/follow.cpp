#include "follow.hpp"

#include <boost/asio/cancellation_state.hpp>

#include <algorithm>

namespace zklock {

Follow::Follow(const ClientHandle& client, Item first)
    : client_{client},
      serial_{client.get_executor()},
      observers_{detail::Observers<FollowObserver>::of(client.config().observers, client.config().logger)},
      first_{std::move(first)},
      pause_{serial_},
      look_{serial_},
      progress_{serial_},
      freshness_{Freshness::State::loading, Clock::now()} {}

void Follow::start(std::weak_ptr<Follower> follower) {
  asio::post(serial_, [self = shared_from_this(), follower = std::move(follower)]() mutable {
    if (self->stopped_) return;
    self->has_begun_ = true;
    self->tell_observers(Freshness::State::loading, Freshness::State::loading, {});
    self->follower_ = std::move(follower);
    self->dirty_.add(self->first_, Urgency::soon, DirtySet::Duty::none);
    spawn_detached(self->serial_, run(self), self->cancellation_.slot());
  });
}

void Follow::stop() {
  if (!client_.in_forked_child()) asio::post(serial_, [self = shared_from_this()] { self->stop_now(); });
}

void Follow::stop_now() {
  if (std::exchange(stopped_, true)) return;
  cancellation_.emit(asio::cancellation_type::terminal);
  pause_.cancel();
  look_.cancel();
  forget_all();
  if (has_begun_ && !ended_) tell_observers(freshness_.state, Freshness::State::gone, {});
  if (const auto follower = follower_.lock(); follower && !ended_) follower->on_end(make_error_code(Error::closing));
  progress_.happen();
}

Awaitable<void> Follow::run(std::shared_ptr<Follow> self) {
  for (;;) {
    const auto [error, session] = co_await self->client_.async_session(self->first_.path, Deadline{}, use_tuple);
    if (self->stopped_) co_return;
    if (error) co_return self->end(error);
    self->begin(session);
    for (SessionStateStream states = session.states();;) {
      const auto [ended, state] = co_await states.async_next(use_tuple);
      if (self->stopped_) co_return;
      if (ended || is_final(state)) break;
      state == SessionState::connected ? self->on_connected() : self->on_suspended();
    }
    self->on_suspended();
  }
}

/// A new session has no watches, and may have missed anything.
void Follow::begin(const Session& session) {
  session_ = session;
  watches_.close();
  watches_ = WatchSet{session, weak_from_this()};
  dirty_.mark_all();
  const std::lock_guard lock{mutex_};
  shown_session_ = session;
}

/// The sync is ahead of the reads: they are no older than this connection, and on the same session its answer comes
/// behind the events that were missed.
void Follow::on_connected() {
  if (std::exchange(connected_, true)) return;
  failures_ = 0;
  first_sync_ = sent_sync_ + 1;
  send_sync();
  if (std::exchange(refresh_is_due_, false)) mark_unsure();
  pump();
}

void Follow::on_suspended() {
  connected_ = caught_up_ = false;
  settle();
}

void Follow::end(error_code reason) {
  ended_ = reason;
  watches_.close();
  look_.cancel();
  set_freshness(Freshness::State::gone);
  if (const auto follower = follower_.lock())  // streams end with `closing`
    follower->on_end(reason == Error::closed ? make_error_code(Error::closing) : reason);
  progress_.happen();
}

void Follow::send_sync() {
  session_.async_sync(first_.path,
                      asio::bind_executor(serial_, [weak = weak_from_this(), number = ++sent_sync_](error_code error) {
                        if (const auto self = weak.lock(); self && !self->stopped_) self->on_sync(number, error);
                      }));
}

void Follow::on_sync(std::uint64_t number, error_code error) {
  if (number < first_sync_ || !connected_) return;
  if (error) return retry_later();
  answered_sync_ = number;
  dirty_.owe_unfinished();
  settle();
}

/// Looks whether something has been achieved, and only then wakes those that wait: they may be many.
void Follow::settle() {
  const bool all_read = is_synced() && dirty_.owed(Urgency::soon) == 0;
  const bool is_first = all_read && !std::exchange(initialized_, true);
  if (is_first)
    if (const auto follower = follower_.lock()) follower->on_initialized();
  const bool owes_none = is_synced() && owes_nothing();
  if (owes_none) caught_up_ = true;
  if (!blind_.empty()) caught_up_ = false;
  if (!ended_)
    set_freshness(!initialized_ ? Freshness::State::loading
                  : caught_up_  ? Freshness::State::live
                                : Freshness::State::stale);
  if (is_first || owes_none) progress_.happen();
}

void Follow::set_freshness(Freshness::State state) {
  Freshness freshness;
  Freshness::State before{};
  {
    const std::lock_guard lock{mutex_};
    if (freshness_.state == state) return;
    before = freshness_.state;
    freshness = freshness_ = {state, Clock::now()};
  }
  tell_observers(before, state, ended_ ? *ended_ : trouble());
  if (const auto follower = follower_.lock(); follower && !stopped_) follower->on_freshness(freshness);
}

void Follow::tell_observers(Freshness::State before, Freshness::State state, error_code error) const {
  if (!observers_) return;
  const std::string path = client_.server_path(first_.path);
  FollowEvent event;
  event.number = number_;
  event.client_id = client_.client_id();
  event.path = path;
  event.before = before;
  event.state = state;
  event.error = error;
  observers_->tell(&FollowObserver::on_follow, event);
}

/// Asks the session, too: a process that was paused sees its end before it is processed.
Freshness Follow::freshness() const {
  const std::lock_guard lock{mutex_};
  const bool is_cut = freshness_.state == Freshness::State::live && shown_session_.state() != SessionState::connected;
  return is_cut ? Freshness{Freshness::State::stale, Clock::now()} : freshness_;
}

void Follow::start_anew() {
  forget_all();
  dirty_.clear();
  unsure_.clear();
  blind_.clear();
  first_is_absent_ = false;
  initialized_ = caught_up_ = false;
  dirty_.add(first_, Urgency::soon, DirtySet::Duty::owed);
}

Awaitable<error_code> Follow::wait_initialized() {
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  while (!initialized_) {
    if (ended_ || stopped_) co_return ended_.value_or(make_error_code(Error::closing));
    co_await progress_.wait();
    if (cancellation.cancelled() != asio::cancellation_type::none) co_return asio::error::operation_aborted;
  }
  co_return trouble();
}

/// The events of all that was committed before the next sync come ahead of its answer: that of the next connection does
/// as well. Those that begin together share one.
Awaitable<error_code> Follow::refresh() {
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  const std::uint64_t asked = sent_sync_ + 1;
  if (!std::exchange(refresh_is_due_, true))
    asio::post(serial_, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->send_due_refresh();
    });
  for (;;) {
    if (ended_ || stopped_) co_return ended_.value_or(make_error_code(Error::closing));
    if (answered_sync_ >= asked && is_synced() && owes_nothing()) co_return trouble();
    co_await progress_.wait();
    if (cancellation.cancelled() != asio::cancellation_type::none) co_return asio::error::operation_aborted;
  }
}

void Follow::send_due_refresh() {
  if (!connected_ || stopped_ || !std::exchange(refresh_is_due_, false)) return;
  mark_unsure();
  send_sync();
  pump();
}

void Follow::mark_unsure() {
  for (const Item& item : unsure_) dirty_.mark(item);
}

}  // namespace zklock
