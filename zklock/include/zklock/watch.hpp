// One-shot watches that one waits for.
#pragma once

#include <zklock/detail/operation.hpp>

#include <memory>
#include <string>

namespace zklock {

enum class WatchEventType { node_created, node_deleted, node_data_changed, node_children_changed };

/// What a watch saw. It is a hint: several changes may have become one event, and the world may have moved on. Read
/// again.
struct WatchEvent {
  WatchEventType type = WatchEventType::node_deleted;
  std::string path;
};

namespace detail {
class WatchCore;
asio::any_io_executor serial_executor(const WatchCore& watch);
asio::any_io_executor callback_executor(const WatchCore& watch);
void refuse_after_fork(const WatchCore& watch);
void start_watch_wait(std::shared_ptr<WatchCore> watch, Handler<WatchEvent> handler);
void abandon(const std::shared_ptr<WatchCore>& watch) noexcept;
}  // namespace detail

/// A watch that a read of a Session has set. Move-only; its destructor gives the watch up, at the server too if nobody
/// else in the session waits on it.
///
/// Threads: one at a time; any thread.
class [[nodiscard]] Watch {
 public:
  /// Belongs to no read: async_wait throws.
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

  /// Waits for the watch's one event; one wait at a time, a second one fails with Error::invalid_state.
  ///
  /// Signature     void(error_code, WatchEvent)
  /// Completes     when the server reports the change, at once if it has done so already. Lost links are survived: the
  ///               C client sets the watch again.
  /// Errors        Error::session_expired, Error::auth_failed and Error::closing with the session's end,
  ///               operation_aborted
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
