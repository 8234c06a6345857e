// In which order, and how much at once, a driver tells what it knows.
#include "reply_queue.hpp"

#include "support/catch.hpp"

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

using namespace zklock;
using namespace std::chrono_literals;

namespace {

/// Listener and sinks that note what they are told.
struct Told : LinkListener, std::enable_shared_from_this<Told> {
  struct Sink : ReplySink, WatchSink {
    Sink(std::string& t, std::string n, std::function<void()> a) : text{t}, name{std::move(n)}, also{std::move(a)} {}
    void on_reply(Reply& reply) override { say(reply.error ? "failed" : "reply"); }
    void on_watch_event(error_code error, const WatchPlace&, WatchEventType) override {
      say(error ? "ended" : "event");
    }
    void say(const std::string& what) const {
      text += name + " " + what + "; ";
      if (also) also();
    }
    std::string& text;
    std::string name;
    std::function<void()> also;
  };

  void on_link_state(LinkState state) override { text += state == LinkState::connected ? "connected; " : "other; "; }
  void on_server_ack(const ServerAck&) override { text += "ack; "; }
  std::shared_ptr<Sink> sink(std::string name, std::function<void()> also = {}) {
    return std::make_shared<Sink>(text, std::move(name), std::move(also));
  }

  std::string text;
};

struct Fixture {
  ReplyQueue queue;
  std::shared_ptr<Told> told = std::make_shared<Told>();
  int wakes = 0;

  void deliver(std::size_t max_replies = 64, const ServerAck& ack = {}) {
    queue.deliver(
        told, ack, max_replies, [this] { ++wakes; }, [this] { told->text += "afterwards"; });
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "an acknowledgement is told first, then the states, then replies and events in their order") {
  queue.add_event(told->sink("a"), {WatchKind::data, "/a"}, WatchEventType::node_deleted);
  queue.add_reply(told->sink("b"), Reply{.error = {}});
  queue.add_end(told->sink("c"), make_error_code(Error::closing));
  queue.add_reply(told->sink("d"), Reply{.error = make_error_code(Error::no_node)});
  queue.add_state(LinkState::disconnected);
  queue.add_state(LinkState::connected);
  CHECK(queue.has_replies());
  ServerAck ack;
  ack.add(Clock::now());
  deliver(64, ack);
  CHECK(told->text == "ack; other; connected; a event; b reply; c ended; d failed; afterwards");
  CHECK(queue.is_empty());
  CHECK(wakes == 0);
  CHECK_FALSE(queue.is_delivering());
}

TEST_CASE_METHOD(Fixture, "what is beyond the limit, or is queued meanwhile, waits for the next delivery") {
  SECTION("many replies") {
    for (const char* name : {"a", "b", "c"}) queue.add_reply(told->sink(name), Reply{.error = {}});
    deliver(2);
    CHECK(told->text == "a reply; b reply; afterwards");
    CHECK(wakes == 1);
    deliver(2);
    CHECK(told->text == "a reply; b reply; afterwardsc reply; afterwards");
    CHECK(wakes == 1);
  }
  SECTION("a handler that queues another reply") {
    queue.add_reply(told->sink("a",
                               [this] {
                                 CHECK(queue.is_delivering());
                                 queue.add_reply(told->sink("b"), Reply{.error = {}});
                               }),
                    Reply{.error = {}});
    deliver();
    CHECK(told->text == "a reply; afterwards");
    CHECK(wakes == 1);
  }
  SECTION("a handler that changes the state") {
    queue.add_reply(told->sink("a", [this] { queue.add_state(LinkState::expired); }), Reply{.error = {}});
    deliver();
    CHECK(wakes == 1);
    CHECK_FALSE(queue.is_empty());
    CHECK_FALSE(queue.has_replies());
  }
}

TEST_CASE_METHOD(Fixture, "a handler that throws leaves the rest for a wake") {
  queue.add_reply(told->sink("a", [] { throw std::runtime_error{"a handler's"}; }), Reply{.error = {}});
  queue.add_reply(told->sink("b"), Reply{.error = {}});
  CHECK_THROWS_AS(deliver(), std::runtime_error);
  CHECK(wakes == 1);
  CHECK_FALSE(queue.is_delivering());
  deliver();
  CHECK(told->text == "a reply; b reply; afterwards");
}

TEST_CASE_METHOD(Fixture, "a listener that is gone misses the states, and the sinks are called all the same") {
  queue.add_state(LinkState::connected);
  queue.add_reply(told->sink("a"), Reply{.error = {}});
  queue.deliver(
      nullptr, ServerAck{}, 64, [this] { ++wakes; }, [] {});
  CHECK(told->text == "a reply; ");
  CHECK(queue.is_empty());
}
