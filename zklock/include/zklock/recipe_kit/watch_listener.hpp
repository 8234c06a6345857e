// One listener for many watches.
#pragma once

#include <zklock/watch.hpp>

#include <memory>

namespace zklock {

/// Is told of the events of the watches that it listens to. That costs less than a wait for each of them, in time and in
/// memory.
///
/// Threads: the serial executor of the watches' session.
class WatchListener {
 public:
  WatchListener() = default;
  WatchListener(const WatchListener&) = delete;
  virtual ~WatchListener() = default;

  /// Not called at the end of the session, nor when the Watch is gone.
  virtual void on_watch_event(const WatchEvent& event) = 0;
};

/// Tells the listener of the watch's event, as long as there is the listener; never within this call. For a watch that
/// nothing waits for.
void listen(const Watch& watch, std::weak_ptr<WatchListener> listener);

}  // namespace zklock
