#include "watched_node.hpp"

#include "held_lock.hpp"

#include <zklock/recipes/locks/revocation.hpp>

#include <boost/asio/post.hpp>

namespace zklock::detail {

WatchedNode::WatchedNode(std::shared_ptr<LockTarget> lock, Clock::duration keep, NodePlace place, ListWatch first)
    : lock_{std::move(lock)},
      keep_{keep},
      place_{std::move(place)},
      connection_{first.connection},
      watch_{std::move(first.watch)},
      timer_{place_.session().get_executor()} {}

void WatchedNode::begin() {
  renewal_.emplace(session(), weak_from_this());
  all_ = KeptLockNodes::of(lock_->client());
  ++all_->number;
  listen();
  wait_to_look();
}

bool WatchedNode::is_on_its_connection() const noexcept {
  return session().state() == SessionState::connected && session().connection() == connection_;
}

bool WatchedNode::is_fresh() const noexcept {
  return is_on_its_connection() && Clock::now() + session().timeout() / 3 < session().valid_until();
}

bool WatchedNode::may_keep(const HeldLock& held_lock) const noexcept {
  return !held_lock.is_lost() && !held_lock.is_revoked() && is_on_its_connection();
}

// ---- its end

/// The delete fires the watch, which is given up only then: to remove it would cost a request.
void WatchedNode::remove(std::function<void(error_code)> removed) {
  asio::dispatch(session().get_executor(), [self = shared_from_this(), removed = std::move(removed)] {
    self->stop();
    self->place_.remove([self, removed](error_code outcome) {
      self->watch_ = Watch{};
      if (removed) removed(outcome);
    });
  });
}

void WatchedNode::stop() {
  if (!std::exchange(is_over_, true)) --all_->number;
  timer_.cancel();
  renewal_.reset();
}

/// Each holder tells it in turn.
void WatchedNode::lose() {
  const auto self = shared_from_this();
  if (is_gone_.exchange(true)) return;
  place_.mark_deleted();
  ask();
  for (const auto& each : holders()) each->lose();
}

void WatchedNode::on_lapse() {
  const auto self = shared_from_this();
  for (const std::shared_ptr<LapseListener> each : holders()) each->on_lapse();
  if (is_final(session().state()) || Clock::now() >= session().valid_until()) ask();
}

void WatchedNode::on_link(SessionState state) {
  const auto self = shared_from_this();
  for (const std::shared_ptr<LapseListener> each : holders()) each->on_link(state);
  ask();
}

// ---- what asks for it

void WatchedNode::replace_watch(Watch watch) {
  watch_ = std::move(watch);
  ++watch_number_;
}

void WatchedNode::listen() {
  watch_.async_wait(asio::bind_executor(session().get_executor(), [weak = weak_from_this(), number = ++watch_number_](
                                                                      error_code error, const WatchEvent& event) {
    const auto self = weak.lock();
    if (self && self->watch_number_ == number) self->on_event(error, event);
  }));
}

void WatchedNode::wait_to_look() {
  timer_.expires_after(keep_ / 2);
  timer_.async_wait([self = shared_from_this()](error_code error) {
    if (!error && !self->is_over_) self->look();
  });
}

void WatchedNode::look() {
  if (!is_on_its_connection() || (!is_held() && !was_used_)) ask();
  if (is_over_) return;
  was_used_ = false;
  list();
  session().async_get_data(node().path,
                           asio::bind_executor(session().get_executor(),
                                               [weak = weak_from_this()](error_code error, const DataResult& result) {
                                                 if (const auto self = weak.lock()) self->on_data(error, result);
                                               }));
  wait_to_look();
}

void WatchedNode::list() {
  session().async_get_children_and_watch(
      lock_->path(),
      asio::bind_executor(session().get_executor(),
                          [weak = weak_from_this()](error_code error, ChildrenResult listed, Watch watch) {
                            if (const auto self = weak.lock()) self->on_children(error, listed.names, std::move(watch));
                          }));
}

void WatchedNode::on_data(error_code error, const DataResult& node) {
  if (is_over_) return;
  if (error == Error::no_node) return lose();
  const bool is_revoked = !error && node.data == revocation_request;
  if (is_revoked)
    for (const auto& each : holders()) each->on_data(node);
  if (error || is_revoked) ask();
}

void lose_if_gone(const WatchedNode& node, const std::shared_ptr<HeldLock>& held_lock) {
  if (node.is_gone()) asio::post(node.session().get_executor(), [held_lock] { held_lock->lose(); });
}

}  // namespace zklock::detail
