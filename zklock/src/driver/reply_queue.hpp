// What a driver has to tell, in the order in which it is told.
#pragma once

#include "driver.hpp"
#include "session_validity.hpp"

#include <cstddef>
#include <deque>
#include <memory>

namespace zklock {

/// The changes of the link's state, the replies and the watch events of one driver, until they are delivered.
///
/// Threads: the driver's executor.
class ReplyQueue {
 public:
  void add_state(LinkState state) { states_.push_back(state); }
  void add_reply(std::shared_ptr<ReplySink> sink, Reply reply);
  void add_event(std::shared_ptr<WatchSink> sink, WatchPlace place, WatchEventType type);
  /// The end of a watch with its session.
  void add_end(std::shared_ptr<WatchSink> sink, error_code reason);

  [[nodiscard]] bool has_replies() const noexcept { return !inbox_.empty(); }
  [[nodiscard]] bool is_empty() const noexcept { return inbox_.empty() && states_.empty(); }
  /// Requests that are made meanwhile need no wake.
  [[nodiscard]] bool is_delivering() const noexcept { return delivering_; }

  /// Tells the listener of `ack` and of all states, then calls at most `max_replies` of the sinks that are there now:
  /// neither a handler nor many replies can hold up the driver's loop. `afterwards` ends the delivery. Calls `wake` if
  /// something is left, or a handler throws.
  template <class Wake, class Afterwards>
  void deliver(const std::shared_ptr<LinkListener>& listener, const ServerAck& ack, std::size_t max_replies, Wake wake,
               Afterwards afterwards) {
    struct Guard {
      ReplyQueue& queue;
      Wake& wake;
      bool done = false;
      ~Guard() {
        queue.delivering_ = false;
        if (!done) wake();
      }
    } guard{*this, wake};
    delivering_ = true;
    tell(listener.get(), ack);
    call_sinks(max_replies);
    if (!is_empty()) wake();
    afterwards();
    guard.done = true;
  }

 private:
  struct Entry {  // a reply if `sink` is there, else a watch event
    std::shared_ptr<ReplySink> sink;
    Reply reply;
    std::shared_ptr<WatchSink> watch;
    WatchPlace place{};
    WatchEventType type{};
  };

  void tell(LinkListener* listener, const ServerAck& ack);
  void call_sinks(std::size_t max_replies);

  std::deque<Entry> inbox_;
  std::deque<LinkState> states_;
  bool delivering_ = false;
};

}  // namespace zklock
