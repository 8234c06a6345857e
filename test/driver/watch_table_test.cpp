// Which waiters wait on which watch.
#include "watch_table.hpp"

#include "support/catch.hpp"

using namespace zklock;

namespace {

struct Nobody final : WatchSink {
  void on_watch_event(error_code, WatchEventType) override {}
};

std::shared_ptr<WatchSink> waiter() { return std::make_shared<Nobody>(); }

}  // namespace

TEST_CASE("all waiters on one place share an entry, which fires once for each of them") {
  WatchTable table{1'000};
  const auto one = waiter();
  const auto two = waiter();
  const auto id = table.begin(WatchKind::children, "/a");
  CHECK_FALSE(table.finish(id, true, one));
  CHECK(table.begin(WatchKind::children, "/a") == id);
  CHECK_FALSE(table.finish(id, true, two));
  CHECK(table.begin(WatchKind::data, "/a") != id);
  CHECK(table.fire({WatchKind::children, "/a"}) == std::vector{one, two});
  CHECK(table.fire({WatchKind::children, "/a"}).empty());
  CHECK(table.size() == 1);
}

TEST_CASE("the last waiter to give up is told to remove the watch, the others are not") {
  WatchTable table{1'000};
  const auto one = waiter();
  const auto two = waiter();
  const auto id = table.begin(WatchKind::children, "/a");
  static_cast<void>(table.finish(id, true, one));
  static_cast<void>(table.begin(WatchKind::children, "/a"));
  static_cast<void>(table.finish(id, true, two));
  CHECK_FALSE(table.forget(*one));
  CHECK_FALSE(table.forget(*one));
  CHECK(table.forget(*two) == id);
  CHECK(table.end(id) == WatchTable::Place{WatchKind::children, "/a"});
}

TEST_CASE("a read that is under way keeps the entry, since its reply sets the watch again") {
  WatchTable table{1'000};
  const auto one = waiter();
  const auto id = table.begin(WatchKind::data, "/a");
  static_cast<void>(table.finish(id, true, one));
  static_cast<void>(table.begin(WatchKind::data, "/a"));
  SECTION("when the others give up") { CHECK_FALSE(table.forget(*one)); }
  SECTION("when it fires") { CHECK(table.fire({WatchKind::data, "/a"}).size() == 1); }
  CHECK(table.finish(id, true, nullptr));  // no waiter wants it: the watch is to be removed
  CHECK(table.unused(id));
  CHECK(table.end(id));
}

TEST_CASE("a read that failed leaves nothing to remove") {
  WatchTable table{1'000};
  const auto id = table.begin(WatchKind::data, "/a");
  CHECK(table.finish(id, false, waiter()));
  CHECK_FALSE(table.end(id));
  CHECK(table.size() == 0);
}

TEST_CASE("a watch whose removal has failed is removed with the entry that is there by then") {
  WatchTable table{1'000};
  const WatchTable::Place place{WatchKind::data, "/a"};
  CHECK_FALSE(table.adopt(place));
  const auto id = table.begin(WatchKind::data, "/a");
  CHECK(table.adopt(place));
  const bool fires = GENERATE(false, true);
  if (fires) CHECK(table.fire(place).empty());
  CHECK(table.finish(id, false, waiter()));
  CHECK(table.end(id).has_value() == !fires);
  CHECK_FALSE(table.adopt(place));
}

TEST_CASE("the end of the session reaches every waiter once") {
  WatchTable table{1'000};
  const auto one = waiter();
  const auto two = waiter();
  static_cast<void>(table.finish(table.begin(WatchKind::data, "/a"), true, one));
  static_cast<void>(table.finish(table.begin(WatchKind::data, "/b"), true, two));
  CHECK(table.drain().size() == 2);
  CHECK(table.drain().empty());
  CHECK_FALSE(table.forget(*one));
}

TEST_CASE("no new place is watched beyond the limit of one message, but further watches on the same place are") {
  WatchTable table{30};
  const auto id = table.begin(WatchKind::data, "/ten-bytes");  // and 4 for its length
  static_cast<void>(table.begin(WatchKind::children, "/ten-bytes"));
  CHECK(table.has_room_for(WatchKind::data, "/ten-bytes"));
  CHECK_FALSE(table.has_room_for(WatchKind::data, "/ten-bytesX"));
  CHECK_FALSE(table.has_room_for(WatchKind::data, "/2"));
  static_cast<void>(table.finish(id, false, nullptr));
  static_cast<void>(table.end(id));
  CHECK(table.has_room_for(WatchKind::data, "/2"));
}
