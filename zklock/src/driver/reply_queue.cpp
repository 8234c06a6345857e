#include "reply_queue.hpp"

#include <algorithm>
#include <utility>

namespace zklock {

void ReplyQueue::add_reply(std::shared_ptr<ReplySink> sink, Reply reply) {
  inbox_.push_back({.sink = std::move(sink), .reply = std::move(reply), .watch = {}});
}

void ReplyQueue::add_event(std::shared_ptr<WatchSink> sink, WatchPlace place, WatchEventType type) {
  inbox_.push_back({.sink = {}, .reply = {}, .watch = std::move(sink), .place = std::move(place), .type = type});
}

void ReplyQueue::add_end(std::shared_ptr<WatchSink> sink, error_code reason) {
  inbox_.push_back({.sink = {}, .reply = {.error = reason}, .watch = std::move(sink)});
}

void ReplyQueue::tell(LinkListener* listener, const ServerAck& ack) {
  if (listener && !ack.is_empty()) listener->on_server_ack(ack);
  while (!states_.empty()) {
    const LinkState state = states_.front();
    states_.pop_front();
    if (listener) listener->on_link_state(state);
  }
}

void ReplyQueue::call_sinks(std::size_t max_replies) {
  for (std::size_t left = std::min(inbox_.size(), max_replies); left > 0 && !inbox_.empty(); --left) {
    Entry entry = std::move(inbox_.front());
    inbox_.pop_front();
    if (entry.sink) {
      entry.sink->on_reply(entry.reply);
    } else {
      entry.watch->on_watch_event(entry.reply.error, entry.place, entry.type);
    }
  }
}

}  // namespace zklock
