// Connects the driver, which sees a watch fire, with the caller that waits for it.
#pragma once

#include "completion.hpp"
#include "session_core.hpp"

#include <zklock/watch.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <string>

namespace zklock::detail {

/// Threads: the serial executor, except `done`.
class WatchCore final : public WatchSink, public std::enable_shared_from_this<WatchCore> {
 public:
  WatchCore(SessionHandle session, std::string path) : session_{std::move(session)}, path_{std::move(path)} {}

  void on_watch_event(error_code error, WatchEventType type) override;
  void wait(Handler<WatchEvent> handler);
  void cancel_wait();
  /// The handle of the watch is gone; a wait under way completes.
  void give_up();

  [[nodiscard]] SessionCore& session() const noexcept { return *session_; }
  /// True when there is nothing left to give up.
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
