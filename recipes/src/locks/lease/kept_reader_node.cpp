#include "kept_reader_node.hpp"

#include "held_lock.hpp"
#include "queue_position.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/session_ops.hpp>
#include <zklock/recipes/locks/revocation.hpp>

#include <algorithm>
#include <utility>

namespace zklock::detail {

std::shared_ptr<KeptReaderNode> KeptReaderNode::make(std::shared_ptr<LockTarget> lock, KeptReaders& readers,
                                                     Clock::duration keep, NodePlace place,
                                                     KeptLockNode::Alone watched) {
  auto node = std::make_shared<KeptReaderNode>(std::move(lock), readers, keep, std::move(place), std::move(watched));
  node->renewal_.emplace(node->session(), node);
  node->all_ = KeptLockNodes::of(node->lock_->client());
  ++node->all_->number;
  node->listen();
  node->wait_to_look();
  return node;
}

KeptReaderNode::KeptReaderNode(std::shared_ptr<LockTarget> lock, KeptReaders& readers, Clock::duration keep,
                               NodePlace place, KeptLockNode::Alone watched)
    : lock_{std::move(lock)},
      readers_{readers},
      keep_{keep},
      place_{std::move(place)},
      connection_{watched.connection},
      watch_{std::move(watched.watch)},
      timer_{place_.session().get_executor()},
      list_timer_{place_.session().get_executor()} {}

// ---- its holders

bool KeptReaderNode::enter() noexcept {
  if (!count_.enter()) return false;
  was_used_ = true;
  return true;
}

bool KeptReaderNode::is_on_its_connection() const noexcept {
  return session().state() == SessionState::connected && session().connection() == connection_;
}

bool KeptReaderNode::is_fresh() const noexcept {
  return is_on_its_connection() && Clock::now() + session().timeout() / 3 < session().valid_until();
}

/// It is not granted if a writer was seen meanwhile: that one is not to wait any longer.
Awaitable<bool> KeptReaderNode::prove(std::shared_ptr<KeptReaderNode> self) {
  if (!self->is_on_its_connection()) co_return false;
  if (const error_code dead = co_await prove_alive(self->session())) co_return false;
  co_return self->is_on_its_connection() && !self->is_asked();
}

bool KeptReaderNode::may_keep(const HeldLock& held_lock) const noexcept {
  return !held_lock.is_lost() && !held_lock.is_revoked() && is_on_its_connection();
}

bool KeptReaderNode::take_back(const HeldLock& held_lock) {
  if (!may_keep(held_lock)) ask();
  return count_.leave();
}

void KeptReaderNode::take_back_unused() {
  if (!is_on_its_connection()) ask();
  if (count_.leave()) remove(nullptr);
}

// ---- its end

void KeptReaderNode::ask() {
  readers_.on_asked();
  if (count_.ask()) remove(nullptr);
}

/// The delete fires the watch, which is given up only then: to remove it would cost a request.
void KeptReaderNode::remove(std::function<void(error_code)> removed) {
  asio::dispatch(session().get_executor(), [self = shared_from_this(), removed = std::move(removed)] {
    self->stop();
    self->place_.remove([self, removed](error_code outcome) {
      self->watch_ = Watch{};
      if (removed) removed(outcome);
    });
  });
}

void KeptReaderNode::stop() {
  if (!std::exchange(is_over_, true)) --all_->number;
  timer_.cancel();
  list_timer_.cancel();
  renewal_.reset();
}

void KeptReaderNode::lose() {
  const auto self = shared_from_this();
  if (is_gone_.exchange(true)) return;
  place_.mark_deleted();
  ask();
  for (const auto& each : lock_->holders_of(*this)) each->lose();
}

void KeptReaderNode::on_lapse() {
  const auto self = shared_from_this();
  for (const auto& each : lock_->holders_of(*this)) each->on_lapse();
  if (is_final(session().state()) || Clock::now() >= session().valid_until()) ask();
}

void KeptReaderNode::on_link(SessionState state) {
  const auto self = shared_from_this();
  for (const auto& each : lock_->holders_of(*this)) each->on_link(state);
  ask();
}

// ---- what asks for it

void KeptReaderNode::listen() {
  watch_.async_wait(asio::bind_executor(
      session().get_executor(), [weak = weak_from_this(), number = ++watch_number_](error_code, const WatchEvent&) {
        const auto self = weak.lock();
        if (self && self->watch_number_ == number) self->on_event();
      }));
}

/// A list that is under way will show what this event tells: an event comes ahead of each reply that shows a later
/// state.
void KeptReaderNode::on_event() {
  if (is_over_ || is_asked() || is_listing_) return;
  list_timer_.expires_at(may_list_at_);
  list_timer_.async_wait([weak = weak_from_this()](error_code error) {
    const auto self = weak.lock();
    if (!error && self && !self->is_over_) self->list();
  });
}

void KeptReaderNode::wait_to_look() {
  timer_.expires_after(keep_ / 2);
  timer_.async_wait([self = shared_from_this()](error_code error) {
    if (!error && !self->is_over_) self->look();
  });
}

/// A node that drains is read all the same: its holders are to hear of a request to revoke.
void KeptReaderNode::look() {
  if (!is_on_its_connection() || (count_.holders() == 0 && !was_used_)) ask();
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

void KeptReaderNode::list() {
  if (is_asked() || std::exchange(is_listing_, true)) return;
  list_timer_.cancel();
  may_list_at_ = Clock::now() + list_pause;
  session().async_get_children_and_watch(
      lock_->path(),
      asio::bind_executor(session().get_executor(),
                          [weak = weak_from_this()](error_code error, ChildrenResult listed, Watch watch) {
                            if (const auto self = weak.lock()) self->on_children(error, listed.names, std::move(watch));
                          }));
}

void KeptReaderNode::on_children(error_code error, const std::vector<std::string>& children, Watch watch) {
  is_listing_ = false;
  if (is_over_) return;
  watch_ = std::move(watch);
  ++watch_number_;  // the one before is not heard any more
  if (error || !is_on_its_connection()) return error == Error::no_node ? lose() : ask();
  if (std::ranges::find(children, node_name(node().path)) == children.end()) return lose();
  if (!has_no_writer(children, lock_->naming())) return ask();
  if (!watch_.is_set()) return on_event();
  listen();
}

void KeptReaderNode::on_data(error_code error, const DataResult& node) {
  if (is_over_) return;
  const bool is_revoked = !error && node.data == revocation_request;
  if (is_revoked)
    for (const auto& each : lock_->holders_of(*this)) each->on_data(node);
  if (error == Error::no_node) return lose();
  if (error || is_revoked) ask();
}

}  // namespace zklock::detail
