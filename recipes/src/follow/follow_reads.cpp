// The reads of Follow, and their replies.
#include "follow.hpp"

#include <algorithm>
#include <chrono>

namespace zklock {

using namespace std::chrono_literals;

void Follow::add(const Item& item, Urgency urgency) { dirty_.add(item, urgency, duty_); }

void Follow::drop(const Item& item) {
  dirty_.drop(item);
  hints_->forget(item);
  unsure_.erase(item);
  blind_.erase(item);
}

/// Begins the reads that are due, at once: the driver sends in one packet what is asked while it tells of what has come.
void Follow::pump() {
  if (!connected_ || paused_ || stopped_ || ended_) return;
  for (const DirtySet::Read& each : dirty_.take(window)) read(each);
}

template <class Value, class Tell>
auto Follow::when_read(const DirtySet::Read& read, Tell tell) {
  return asio::bind_executor(serial_,
                             [weak = weak_from_this(), read, tell](error_code error, Value value, Watch watch) {
                               const auto self = weak.lock();
                               if (!self || self->stopped_ || self->ended_) return;
                               if (self->counts(read, error)) {
                                 self->hints_->armed(read.item, std::move(watch));
                                 self->unsure_.erase(read.item);
                                 self->blind_.erase(read.item);
                                 if (const auto follower = self->follower_.lock())
                                   tell(*follower, read.item.path, std::move(value));
                                 self->settle();
                               }
                               self->pump();
                             });
}

void Follow::read(const DirtySet::Read& read) {
  if (read.item == first_ && first_is_absent_) return look_for_first(read);
  if (read.item.aspect == Aspect::data) {
    const auto tell = [](Follower& follower, const std::string& path, DataResult data) {
      follower.on_data(path, std::move(data));
    };
    session_.async_get_data_and_watch(read.item.path, when_read<DataResult>(read, tell));
  } else {
    const auto tell = [](Follower& follower, const std::string& path, ChildrenResult children) {
      follower.on_children(path, std::move(children));
    };
    session_.async_get_children_and_watch(read.item.path, when_read<ChildrenResult>(read, tell));
  }
}

void Follow::look_for_first(const DirtySet::Read& read) {
  session_.async_exists_and_watch(
      read.item.path, asio::bind_executor(serial_, [weak = weak_from_this(), read](
                                                       error_code error, const std::optional<Stat>& stat, Watch watch) {
        const auto self = weak.lock();
        if (!self || self->stopped_ || self->ended_) return;
        self->on_existence(read, error, stat.has_value(), std::move(watch));
        self->pump();
      }));
}

/// A node that has appeared is read next.
void Follow::on_existence(const DirtySet::Read& read, error_code error, bool is_there, Watch watch) {
  if (!error && is_there) {
    first_is_absent_ = false;
    if (dirty_.answered(read, DirtySet::Answer::failed).first) hints_->armed(read.item, std::move(watch));
    return;
  }
  if (!counts(read, error)) return;
  hints_->armed(read.item, std::move(watch));
  blind_.erase(read.item);
  unsure_.insert(read.item);
  look_again_later();
  if (const auto follower = follower_.lock()) follower->on_absent(read.item);
  settle();
}

namespace {

bool is_transient(error_code error) { return is_retryable(error) || is_session_lost(error); }

}  // namespace

bool Follow::counts(const DirtySet::Read& read, error_code error) {
  const bool is_missing_first = error == Error::no_node && read.item == first_;
  if (is_missing_first) first_is_absent_ = true;  // and is looked for with a watch that tells of its creation
  if (is_transient(error) || is_missing_first) {
    if (dirty_.answered(read, DirtySet::Answer::failed).first && !is_missing_first) retry_later();
    return false;
  }
  const auto [is_current, duty] = dirty_.answered(read, DirtySet::Answer::read);
  if (!is_current) return false;
  duty_ = duty;
  if (!error) {
    failures_ = 0;
    return true;
  }
  cannot_read(read.item, error);
  settle();
  return false;
}

void Follow::cannot_read(const Item& item, error_code error) {
  const auto follower = follower_.lock();
  if (error == Error::no_node) {
    drop(item);
    if (follower) follower->on_absent(item);
    return;
  }
  unsure_.insert(item);
  if (error != Error::no_auth) {
    blind_.insert(item);
    trouble_ = error;
  }
  look_again_later();
  if (follower) follower->on_unreadable(item, error);
}

/// Where the link is lost, the next connection begins the next try.
void Follow::retry_later() {
  if (!connected_ || session_.state() != SessionState::connected || std::exchange(paused_, true)) return;
  pause_.expires_at(Clock::now() + std::min<Clock::duration>(50ms * (1 << std::min(failures_++, 5)), 1s));
  pause_.async_wait(asio::bind_executor(serial_, [weak = weak_from_this()](error_code) {
    const auto self = weak.lock();
    if (!self) return;
    self->paused_ = false;
    if (self->stopped_ || !self->connected_) return;
    if (self->answered_sync_ < self->sent_sync_) self->send_sync();
    self->pump();
  }));
}

void Follow::look_again_later() {
  if (std::exchange(looking_, true)) return;
  look_.expires_at(Clock::now() + slow_look);
  look_.async_wait(asio::bind_executor(serial_, [weak = weak_from_this()](error_code error) {
    const auto self = weak.lock();
    if (!self) return;
    self->looking_ = false;
    if (!error && !self->stopped_ && !self->ended_) self->look_again();
  }));
}

/// A window of them each time, in turn.
void Follow::look_again() {
  if (unsure_.empty()) return;
  auto next = unsure_.upper_bound(last_look_);
  for (std::size_t left = std::min(window, unsure_.size()); left > 0; --left) {
    if (next == unsure_.end()) next = unsure_.begin();
    last_look_ = *next;
    dirty_.mark(*next++);
  }
  pump();
  look_again_later();
}

void Follow::on_event(const Item& item, WatchEventType type) {
  if (stopped_) return;
  if (type == WatchEventType::node_deleted && item != first_) {
    dirty_.hold(item);
  } else {
    dirty_.mark(item);
  }
  pump();
}

}  // namespace zklock
