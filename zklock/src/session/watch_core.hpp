// Connects the driver, which sees a watch fire, with the caller that waits for it, or listens to many.
#pragma once

#include "completion.hpp"
#include "session_core.hpp"

#include <zklock/recipe_kit/watch_listener.hpp>
#include <zklock/watch.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace zklock::detail {

/// Threads: the serial executor, unless marked.
class WatchCore final : public WatchSink, public std::enable_shared_from_this<WatchCore> {
 public:
  WatchCore(SessionHandle session, WatchKind kind, std::string path)
      : session_{std::move(session)}, path_{std::move(path)}, kind_{kind} {}

  void on_watch_event(error_code error, const WatchPlace& place, WatchEventType type) override;
  /// The number of a wait that is about to begin. Any thread.
  [[nodiscard]] std::uint64_t next_wait() noexcept { return ++waits_; }
  void wait(std::uint64_t number, Handler<WatchEvent> handler);
  /// Ends that wait, if it is under way: a cancellation may come when its wait is over, or was refused.
  void cancel_wait(std::uint64_t number);
  /// The handle of the watch is gone; a wait under way completes.
  void give_up();

  [[nodiscard]] SessionCore& session() const noexcept { return *session_; }
  /// True when there is nothing left to give up. Any thread.
  [[nodiscard]] bool done() const noexcept { return done_; }

 private:
  struct Outcome {
    error_code error;
    WatchEventType type{};
  };

  [[nodiscard]] WatchEvent event() const { return {outcome_->type, path_}; }
  void abort_wait();

  SessionHandle session_;
  std::string path_;
  std::optional<Outcome> outcome_;
  std::optional<Handler<WatchEvent>> waiter_;
  std::uint64_t waiting_ = 0;  // the number of that wait
  std::atomic<std::uint64_t> waits_{0};
  std::atomic<bool> done_{false};
  WatchKind kind_;
};

/// Threads: the serial executor.
class WatchSetCore final : public WatchSink {
 public:
  WatchSetCore(SessionHandle session, std::weak_ptr<WatchListener> listener)
      : session_{std::move(session)}, listener_{std::move(listener)} {}

  void on_watch_event(error_code error, const WatchPlace& place, WatchEventType type) override;
  void forget(WatchKind kind, const std::string& path) {
    session_->driver().forget_watch(*this, {kind, full_path(session_, path)});
  }
  void close() noexcept { listener_.reset(); }
  [[nodiscard]] const SessionHandle& session() const noexcept { return session_; }

 private:
  SessionHandle session_;
  std::weak_ptr<WatchListener> listener_;
};

}  // namespace zklock::detail
