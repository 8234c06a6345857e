// Which waiters wait on which watch.
#include "watch_table.hpp"

#include "support/catch.hpp"
#include "support/growth.hpp"

using namespace zklock;

namespace {

struct Nobody final : WatchSink {
  void on_watch_event(error_code, const WatchPlace&, WatchEventType) override {}
};

std::shared_ptr<WatchSink> waiter() { return std::make_shared<Nobody>(); }

using Sinks = std::vector<WatchTable::Sink>;

const WatchPlace children{WatchKind::children, "/a"};
const WatchPlace data{WatchKind::data, "/a"};

/// Reads with success, so that the sink waits.
void watch(WatchTable& table, const WatchPlace& place, const WatchTable::Sink& sink) {
  CHECK_FALSE(table.finish(table.begin(place), true, sink));
}

}  // namespace

TEST_CASE("all waiters on one place share an entry, which fires once for each of them") {
  WatchTable table{1'000};
  const auto one = waiter();
  const auto two = waiter();
  watch(table, children, one);
  watch(table, children, two);
  watch(table, children, one);
  watch(table, data, two);
  CHECK(table.size() == 2);
  CHECK(table.fire(children) == Sinks{one, two});
  CHECK(table.fire(children).empty());
  CHECK(table.size() == 1);
  CHECK(table.fire(data) == Sinks{two});
  CHECK(table.size() == 0);
}

TEST_CASE("a waiter on many places gives up one at a time") {
  WatchTable table{1'000};
  const auto one = waiter();
  watch(table, children, one);
  watch(table, data, one);
  table.forget(*one, children);
  CHECK(table.end(children));
  CHECK(table.fire(children).empty());
  CHECK_FALSE(table.end(data));
  CHECK(table.fire(data) == Sinks{one});
}

TEST_CASE("the last waiter to give up is told to remove the watch, the others are not") {
  WatchTable table{1'000};
  const auto one = waiter();
  const auto two = waiter();
  watch(table, children, one);
  watch(table, children, two);
  table.forget(*one, children);
  CHECK_FALSE(table.end(children));
  table.forget(*one, children);
  CHECK_FALSE(table.end(children));
  table.forget(*two, children);
  CHECK(table.end(children));
  CHECK_FALSE(table.end(children));
}

TEST_CASE("a read that is under way keeps the entry, since its reply sets the watch again") {
  WatchTable table{1'000};
  const auto one = waiter();
  watch(table, data, one);
  const auto read = table.begin(data);
  SECTION("when the others give up") {
    table.forget(*one, data);
    CHECK_FALSE(table.end(data));
  }
  SECTION("when it fires") { CHECK(table.fire(data).size() == 1); }
  CHECK(read.place() == data);
  CHECK(table.finish(read, true, nullptr));  // no sink wants it: the watch is to be removed
  CHECK(table.end(data));
}

TEST_CASE("a read that failed leaves nothing to remove") {
  WatchTable table{1'000};
  CHECK(table.finish(table.begin(data), false, waiter()));
  CHECK_FALSE(table.end(data));
  CHECK(table.size() == 0);
}

TEST_CASE("a watch whose removal has failed is removed with the entry that is there by then") {
  WatchTable table{1'000};
  CHECK_FALSE(table.adopt(data));
  const auto read = table.begin(data);
  CHECK(table.adopt(data));
  CHECK_FALSE(table.adopt(children));
  const bool fires = GENERATE(false, true);
  if (fires) CHECK(table.fire(data).empty());
  CHECK(table.finish(read, false, waiter()));
  CHECK(table.end(data) == !fires);
  CHECK_FALSE(table.adopt(data));
}

TEST_CASE("the end of the session reaches every waiter once") {
  WatchTable table{1'000};
  const auto one = waiter();
  const auto two = waiter();
  watch(table, data, one);
  watch(table, children, one);
  watch(table, {WatchKind::data, "/b"}, two);
  CHECK(table.drain().size() == 3);
  CHECK(table.drain().empty());
  CHECK(table.size() == 0);
  table.forget(*one, data);
  CHECK_FALSE(table.end(data));
}

TEST_CASE("no new place is watched beyond the limit of one message, but further watches on the same place are") {
  WatchTable table{30};
  const WatchPlace place{WatchKind::data, "/ten-bytes"};  // and 4 for its length
  const auto read = table.begin(place);
  static_cast<void>(table.begin({WatchKind::children, "/ten-bytes"}));
  CHECK(table.has_room_for(place));
  CHECK_FALSE(table.has_room_for({WatchKind::data, "/ten-bytesX"}));
  CHECK_FALSE(table.has_room_for({WatchKind::data, "/2"}));
  static_cast<void>(table.finish(read, false, nullptr));
  static_cast<void>(table.end(place));
  CHECK(table.has_room_for({WatchKind::data, "/2"}));
}

TEST_CASE("many waiters on one place that come and go take a time that grows with their number", "[timing]") {
  CHECK(test::growth(2'000, [](std::size_t n) {
          WatchTable table{1'000};
          std::vector<WatchTable::Sink> sinks;
          for (std::size_t i = 0; i < n; ++i) watch(table, data, sinks.emplace_back(waiter()));
          for (std::size_t i = 0; i < n; ++i) table.forget(*sinks[i % 2 == 0 ? i / 2 : n - 1 - i / 2], data);
          CHECK(table.end(data));
          for (const auto& each : sinks) watch(table, data, each);
          CHECK(table.fire(data) == sinks);
        }) < 16);
}
