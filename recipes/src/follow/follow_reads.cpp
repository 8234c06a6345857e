// The reads of Follow, and their replies.
#include "follow.hpp"

#include <algorithm>
#include <chrono>

namespace zklock {

using namespace std::chrono_literals;

void Follow::add(const Item& item, Urgency urgency) { dirty_.add(item, urgency, duty_); }

void Follow::drop(const Item& item) {
  dirty_.drop(item);
  watches_.forget(item.kind, item.path);
  unsure_.erase(item);
  blind_.erase(item);
}

/// Begins the reads that are due, at once: the driver sends in one packet what is asked while it tells of what has come.
void Follow::pump() {
  if (!connected_ || paused_ || stopped_ || ended_) return;
  for (const DirtySet::Read& each : dirty_.take(window)) read(each);
}

/// The watch of a read stays if its item is followed: by this read or by a later one, which may have set it again by now.
template <class Value, class Tell>
auto Follow::when_read(const DirtySet::Read& read, Tell tell) {
  return [weak = weak_from_this(), from = watches_, read, tell](error_code error, Value value) {
    const auto self = weak.lock();
    const bool goes_on = self && !self->stopped_ && !self->ended_;
    if (goes_on && self->counts(read, error)) {
      self->unsure_.erase(read.item);
      self->blind_.erase(read.item);
      if (const auto follower = self->follower_.lock()) tell(*follower, read.item.path, std::move(value));
      self->settle();
    }
    if (!goes_on || !self->needs_watch(read.item)) from.forget(read.item.kind, read.item.path);
    if (goes_on) self->pump();
  };
}

void Follow::read(const DirtySet::Read& read) {
  if (read.item == first_ && first_is_absent_) return look_for_first(read);
  if (read.item.kind == WatchKind::data) {
    const auto tell = [](Follower& follower, const std::string& path, DataResult data) {
      follower.on_data(path, std::move(data));
    };
    watches_.get_data(read.item.path, when_read<DataResult>(read, tell));
  } else {
    const auto tell = [](Follower& follower, const std::string& path, ChildrenResult children) {
      follower.on_children(path, std::move(children));
    };
    watches_.get_children(read.item.path, when_read<ChildrenResult>(read, tell));
  }
}

/// The watch is on the data, whatever the item.
void Follow::look_for_first(const DirtySet::Read& read) {
  watches_.exists(read.item.path,
                  [weak = weak_from_this(), from = watches_, read](error_code error, const std::optional<Stat>& stat) {
                    const auto self = weak.lock();
                    const bool goes_on = self && !self->stopped_ && !self->ended_;
                    if (goes_on) self->on_existence(read, error, stat.has_value());
                    const Item watched{WatchKind::data, read.item.path};
                    if (!goes_on || !self->needs_watch(watched)) from.forget(watched.kind, watched.path);
                    if (goes_on) self->pump();
                  });
}

/// A node that has appeared is read next.
void Follow::on_existence(const DirtySet::Read& read, error_code error, bool is_there) {
  if (!error && is_there) {
    first_is_absent_ = false;
    static_cast<void>(dirty_.answered(read, DirtySet::Answer::failed));
    return;
  }
  if (!counts(read, error)) return;
  blind_.erase(read.item);
  unsure_.insert(read.item);
  look_again_later();
  if (const auto follower = follower_.lock()) follower->on_absent(read.item);
  settle();
}

/// An absent first node, whatever the item, is looked for with a watch of its data.
bool Follow::needs_watch(const Item& item) {
  return dirty_.contains(item) || (first_is_absent_ && item == Item{WatchKind::data, first_.path});
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

void Follow::forget_all() {
  for (const Item& item : dirty_.items()) watches_.forget(item.kind, item.path);
  if (first_is_absent_) watches_.forget(WatchKind::data, first_.path);
}

void Follow::on_watch_event(WatchKind kind, const WatchEvent& event) {
  if (stopped_) return;
  const bool is_looked_for = first_is_absent_ && event.path == first_.path;  // with a watch of the data
  const Item item = is_looked_for ? first_ : Item{kind, event.path};
  if (event.type == WatchEventType::node_deleted && item != first_) {
    dirty_.hold(item);
  } else {
    dirty_.mark(item);
  }
  pump();
}

}  // namespace zklock
