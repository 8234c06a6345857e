// The events that a subscriber has not read yet, and their publisher.
#pragma once

#include <zklock/detail/weak_list.hpp>
#include <zklock/event_stream.hpp>
#include <zklock/recipe_kit/blocking.hpp>
#include <zklock/recipe_kit/complete_later.hpp>
#include <zklock/recipe_kit/merging_list.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace zklock {

/// `Unread` keeps what was not read: it has push(news), Event pop(), clear() and empty(). The news are the events, unless
/// it makes the events of something else.
///
/// Threads: any; it has a mutex, which is never held while a handler runs.
template <class Event, class Unread = MergingList<Event>>
class EventQueue final : public detail::EventSource<Event>,
                         public std::enable_shared_from_this<EventQueue<Event, Unread>> {
 public:
  explicit EventQueue(const ClientHandle& client) : detail::EventSource<Event>{client} {}

  template <class News = Event>
  void push(News news) {
    std::unique_lock lock{mutex_};
    if (end_) return;
    unread_.push(std::move(news));
    if (waiter_ && !unread_.empty()) return complete(lock, error_code{}, unread_.pop());
    changed_.notify_one();
  }

  /// What was pushed before, and is unread, does not count any more.
  void forget_unread() {
    const std::lock_guard lock{mutex_};
    unread_.clear();
  }

  /// No event follows.
  void end(error_code reason) {
    std::unique_lock lock{mutex_};
    if (end_) return;
    end_ = reason;
    if (waiter_) return complete(lock, reason, Event{});
    changed_.notify_one();
  }

  void next(detail::Handler<Event> handler) override {
    std::unique_lock lock{mutex_};
    if (waiter_) return post(std::move(handler), make_error_code(Error::invalid_state), Event{});
    follow_cancellation(handler, ++waits_);
    waiter_ = std::move(handler);
    if (!unread_.empty()) return complete(lock, error_code{}, unread_.pop());
    if (end_) complete(lock, *end_, Event{});
  }

  /// Waits in slices: the clock of a condition variable stands still while the machine is suspended.
  std::pair<error_code, std::optional<Event>> take(Deadline deadline) override {
    constexpr Clock::duration slice = std::chrono::seconds{1};
    std::unique_lock lock{mutex_};
    if (waiter_) return {make_error_code(Error::invalid_state), std::nullopt};
    for (detail::ExecutorProbe probe{detail::awaited_of(this->client())};;) {
      if (!unread_.empty()) return {error_code{}, unread_.pop()};
      if (end_) return {*end_, std::nullopt};
      const auto now = Clock::now();
      const Clock::duration left = deadline ? *deadline - now : slice;
      const bool is_over = left <= Clock::duration::zero();
      if (is_over ? probe.is_silent(now) : probe.is_overdue(now))
        return {make_error_code(Error::executor_not_running), std::nullopt};
      if (is_over) return {make_error_code(Error::timed_out), std::nullopt};
      changed_.wait_for(lock, std::min(left, slice));
    }
  }

  void cancel() override {
    std::unique_lock lock{mutex_};
    if (waiter_) complete(lock, asio::error::operation_aborted, Event{});
  }

  void abandon() noexcept override {
    cancel();
    forget_unread();
    if (on_abandon) on_abandon();
  }

  /// Called when there is no reader any more. To be set before there is one.
  std::function<void()> on_abandon;

 private:
  /// The slot belongs to the caller's threads, so that it cannot be cleared when the wait is over: it goes by the wait's
  /// number, and cancels no later wait.
  void follow_cancellation(const detail::Handler<Event>& handler, std::uint64_t number) {
    if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected())
      slot.assign([weak = this->weak_from_this(), number](asio::cancellation_type type) {
        if (type == asio::cancellation_type::none) return;
        if (const auto self = weak.lock()) self->cancel(number);
      });
  }

  void cancel(std::uint64_t number) {
    std::unique_lock lock{mutex_};
    if (waiter_ && waits_ == number) complete(lock, asio::error::operation_aborted, Event{});
  }

  void complete(std::unique_lock<std::mutex>& lock, error_code error, Event event) {
    detail::Handler<Event> waiter = std::move(waiter_);
    lock.unlock();
    post(std::move(waiter), error, std::move(event));
  }

  /// Never within the call that began the wait, nor under the publisher's mutex.
  void post(detail::Handler<Event> handler, error_code error, Event event) {
    detail::complete_later(this->client().get_executor(), this->shared_from_this(), std::move(handler), error,
                           std::move(event));
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Unread unread_;
  std::optional<error_code> end_;
  detail::Handler<Event> waiter_;
  std::uint64_t waits_ = 0;
};

/// The subscribers of one publisher. Threads: one serial executor, or under the publisher's mutex.
template <class Event, class Unread = MergingList<Event>>
class EventQueues {
 public:
  using Queue = EventQueue<Event, Unread>;

  std::shared_ptr<Queue> add(const ClientHandle& client) {
    auto queue = std::make_shared<Queue>(client);
    queues_.add(queue);
    return queue;
  }
  [[nodiscard]] bool empty() const noexcept { return queues_.empty(); }

  template <class News = Event>
  void push(const News& news) {
    each([&](Queue& queue) { queue.push(news); });
  }
  void forget_unread() {
    each([](Queue& queue) { queue.forget_unread(); });
  }
  void end(error_code reason) {
    each([&](Queue& queue) { queue.end(reason); });
  }

 private:
  template <class Action>
  void each(Action action) {
    bool is_any_gone = false;
    for (const auto& weak : queues_) {
      const auto queue = weak.lock();
      if (queue) action(*queue);
      is_any_gone = is_any_gone || !queue;
    }
    if (is_any_gone) queues_.sweep();
  }

  detail::WeakList<Queue> queues_;
};

}  // namespace zklock
