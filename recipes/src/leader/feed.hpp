// Values that come by themselves, until a reader takes them.
#pragma once

#include <zklock/recipe_kit/async_event.hpp>
#include <zklock/recipe_kit/spawn.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

namespace zklock::detail {

/// Keeps the newest `size` values that were not read yet. Threads: one serial executor.
template <class T>
class Feed {
 public:
  Feed(const asio::any_io_executor& serial, std::size_t size) : changed_{serial}, size_{size} {}

  void push(T value) {
    if (unread_.size() == size_) unread_.pop_front();
    unread_.push_back(std::move(value));
    changed_.happen();
  }
  /// No further value comes; what is unread stays. Only the first call has an effect.
  void end(error_code why) {
    if (!ended_) ended_ = why;
    changed_.happen();
  }
  [[nodiscard]] static Awaitable<Result<T>> next(std::shared_ptr<Feed> self) {
    const auto cancellation = co_await asio::this_coro::cancellation_state;
    for (;;) {
      if (!self->unread_.empty()) {
        Result<T> value{std::move(self->unread_.front())};
        self->unread_.pop_front();
        co_return std::move(value);
      }
      if (self->ended_) co_return *self->ended_;
      if (cancellation.cancelled() != asio::cancellation_type::none)
        co_return make_error_code(asio::error::operation_aborted);
      co_await self->changed_.wait();
    }
  }

 private:
  AsyncEvent changed_;
  std::size_t size_;
  std::deque<T> unread_;
  std::optional<error_code> ended_;
};

/// Errors of an operation that a lost link or session explains, so that the same may succeed later.
[[nodiscard]] inline bool is_passing(error_code error) noexcept {
  return is_retryable(error) || error == Error::session_expired || error == Error::not_connected;
}

/// How long to wait after a passing error. Most of them come after a long wait for a connection.
inline constexpr std::chrono::milliseconds pause_after_trouble{100};

/// The error with which a stream ends.
[[nodiscard]] inline error_code end_of_stream(error_code error) noexcept {
  return error == Error::closed ? make_error_code(Error::closing) : error;
}

}  // namespace zklock::detail
