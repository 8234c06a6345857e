// One-shot watches that a caller can await.
#pragma once

#include <zklock/detail/initiate.hpp>
#include <zklock/watch_event.hpp>

#include <memory>

namespace zklock {

namespace detail {
class WatchCore;
Runtime& home_of(const WatchCore& watch);
void start_watch_wait(std::shared_ptr<WatchCore> watch, Handler<WatchEvent> handler);
void abandon(const std::shared_ptr<WatchCore>& watch) noexcept;
[[nodiscard]] bool is_set(const WatchCore& watch) noexcept;
}  // namespace detail

/// A watch that a read of a Session has set. Move-only. The destructor gives the watch up, and removes it from the
/// server if nothing else in the session waits for it.
///
/// Threads: one at a time; any thread.
class [[nodiscard]] Watch {
 public:
  /// An empty watch, without a read: async_wait throws.
  Watch() noexcept = default;
  explicit Watch(std::shared_ptr<detail::WatchCore> core) noexcept : core_{std::move(core)} {}
  Watch(Watch&&) noexcept = default;
  Watch& operator=(Watch&& other) noexcept {
    if (this != &other) {
      detail::abandon(core_);
      core_ = std::move(other.core_);
    }
    return *this;
  }
  ~Watch() { detail::abandon(core_); }

  /// The event has not come yet, and the session is not over. On the session's executor a handler finds it false if the
  /// event came ahead of the reply that it handles. An empty watch is not set.
  [[nodiscard]] bool is_set() const noexcept { return core_ && detail::is_set(*core_); }

  /// Waits for the watch's one event. Only one wait at a time: a second one fails with Error::invalid_state.
  ///
  /// Signature     void(error_code, WatchEvent)
  /// Completes     when the server reports the change; at once if it has done so already. The wait survives lost links:
  ///               the C client sets the watch again.
  /// Errors        Error::session_expired, Error::auth_failed or Error::closing at the session's end, operation_aborted
  /// Cancellation  terminal, partial, total: the watch stays and can be awaited again.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, WatchEvent)> Token = asio::deferred_t>
  auto async_wait(Token&& token = {}) {
    return detail::initiate<void(error_code, WatchEvent), &detail::start_watch_wait>(std::forward<Token>(token), core_);
  }

 private:
  std::shared_ptr<detail::WatchCore> core_;
};

}  // namespace zklock
