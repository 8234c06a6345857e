// Connects the driver, which sees a watch fire, with the caller that waits for it.
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
  WatchCore(SessionHandle session, std::string path) : session_{std::move(session)}, path_{std::move(path)} {}

  void on_watch_event(error_code error, WatchEventType type) override;
  /// The number of a wait that is about to begin. Any thread.
  [[nodiscard]] std::uint64_t next_wait() noexcept { return ++waits_; }
  void wait(std::uint64_t number, Handler<WatchEvent> handler);
  /// Ends that wait, if it is under way: a cancellation may come when its wait is over, or was refused.
  void cancel_wait(std::uint64_t number);
  void listen(std::weak_ptr<WatchListener> listener);
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
  void tell_listener();
  void abort_wait();

  SessionHandle session_;
  std::string path_;
  std::optional<Outcome> outcome_;
  std::optional<Handler<WatchEvent>> waiter_;
  std::weak_ptr<WatchListener> listener_;
  std::uint64_t waiting_ = 0;  // the number of that wait
  std::atomic<std::uint64_t> waits_{0};
  std::atomic<bool> done_{false};
};

}  // namespace zklock::detail
