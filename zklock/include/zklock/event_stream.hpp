// Streams of events, which each subscriber reads at its own pace.
#pragma once

#include <zklock/client.hpp>
#include <zklock/clock.hpp>
#include <zklock/detail/initiate.hpp>
#include <zklock/recipe_kit/blocking.hpp>

#include <boost/system/system_error.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

namespace zklock {

namespace detail {

/// Where the events of a stream come from.
template <class Event>
class EventSource {
 public:
  explicit EventSource(const ClientHandle& client) : client_{client} {}
  EventSource(const EventSource&) = delete;
  virtual ~EventSource() = default;

  /// `way`: the handler's.
  virtual void next(Handler<Event> handler) = 0;
  /// Blocks. Error::timed_out when the time has passed.
  virtual std::pair<error_code, std::optional<Event>> take(Deadline deadline) = 0;
  /// A wait under way completes with operation_aborted.
  virtual void cancel() = 0;
  /// There is no reader any more.
  virtual void abandon() noexcept = 0;
  [[nodiscard]] const ClientHandle& client() const noexcept { return client_; }

 private:
  ClientHandle client_;
};

template <class Event>
void abandon(const std::shared_ptr<EventSource<Event>>& source) noexcept {
  if (source && !source->client().in_forked_child()) source->abandon();
}
struct StartNextEvent {
  template <class Event>
  void operator()(const std::shared_ptr<EventSource<Event>>& source, Handler<Event> handler) const {
    source->next(std::move(handler));
  }
};

}  // namespace detail

/// A stream of events, in their order, read at the subscriber's own pace. The events that a slow subscriber has not
/// read yet are merged, key by key, or the oldest are dropped, as the maker of the stream describes: how the last state
/// came about may be missing, never that state. The stream ends with Error::closing. It may outlive the object that made it.
///
/// Threads: one at a time; any thread.
template <class Event>
class EventStream {
 public:
  explicit EventStream(std::shared_ptr<detail::EventSource<Event>> source) noexcept : source_{std::move(source)} {}
  EventStream(EventStream&&) noexcept = default;
  EventStream& operator=(EventStream&& other) noexcept {
    if (this != &other) {
      detail::abandon(source_);
      source_ = std::move(other.source_);
    }
    return *this;
  }
  /// A wait under way completes with operation_aborted.
  ~EventStream() { detail::abandon(source_); }

  /// Waits for the next event. Only one wait at a time: a second one fails with Error::invalid_state.
  ///
  /// Signature     void(error_code, Event)
  /// Completes     with the oldest unread event; at once if there is one.
  /// Errors        Error::closing when no other event can follow, or the error that ended the client's sessions;
  ///               operation_aborted.
  /// Cancellation  terminal, partial, total: no event is lost.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, Event)> Token = asio::deferred_t>
  auto async_next(Token&& token = {}) {
    return detail::initiate<void(error_code, Event), detail::StartNextEvent{}>(std::forward<Token>(token), source_);
  }

  /// The same, blocking. Throws boost::system::system_error with the errors above; Error::blocking_in_handler on a
  /// thread that the client's work needs; Error::executor_not_running.
  Event next() { return *take(std::nullopt); }
  /// Empty: no event came in that time.
  template <class Rep, class Period>
  std::optional<Event> next(std::chrono::duration<Rep, Period> wait) {
    return take(after(wait));
  }

 private:
  std::optional<Event> take(Deadline deadline) {
    detail::refuse_after_fork(detail::existing(source_));
    const auto fail = [](error_code error) { throw boost::system::system_error{error, "the next event"}; };
    if (const error_code error = detail::why_not_block(source_->client())) fail(error);
    auto [error, event] = source_->take(deadline);
    if (error && error != Error::timed_out) fail(error);
    return std::move(event);
  }

  std::shared_ptr<detail::EventSource<Event>> source_;
};

}  // namespace zklock
