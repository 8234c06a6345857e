// A watch between the driver that sees it fire and the caller that waits for it.
#pragma once

#include "delivery.hpp"
#include "session_core.hpp"

#include <zklock/watch.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <string>

namespace zklock::detail {

/// Threads: the serial executor, but for `done`.
class WatchCore final : public WatchSink, public std::enable_shared_from_this<WatchCore> {
 public:
  WatchCore(SessionHandle session, std::string path) : session_{std::move(session)}, path_{std::move(path)} {}

  void on_watch_event(error_code error, WatchEventType type) override;
  void wait(Handler<WatchEvent> handler);
  void cancel_wait();
  /// Nobody holds the watch any more; who waits for it is told.
  void give_up();

  [[nodiscard]] SessionCore& session() const noexcept { return *session_; }
  /// Nothing is left to give up.
  [[nodiscard]] bool done() const noexcept { return done_; }

 private:
  struct Outcome {
    error_code error;
    WatchEvent event;
  };

  SessionHandle session_;
  std::string path_;
  std::optional<Outcome> outcome_;
  std::optional<Handler<WatchEvent>> waiter_;
  std::atomic<bool> done_{false};
};

}  // namespace zklock::detail
