// One listener for the events of many watches.
#include "support/follow_stage.hpp"

#include <zklock/recipe_kit/watch_listener.hpp>

#include <string>
#include <vector>

using namespace zklock;
using namespace std::chrono_literals;

namespace {

struct Heard final : WatchListener {
  void on_watch_event(WatchKind kind, const WatchEvent& event) override {
    events.push_back((kind == WatchKind::data ? "data of " : "children of ") + event.path);
  }
  std::vector<std::string> events;
};

using Events = std::vector<std::string>;

/// Two nodes, what is told of them, and the set's reads.
struct ListenerStage : test::FollowStage {
  std::shared_ptr<Heard> heard = std::make_shared<Heard>();
  WatchSet watches{reader.session(), heard};

  ListenerStage() {
    create("/a", "1");
    create("/b", "1");
  }
  error_code read_data(const std::string& path) {
    return std::get<0>(outcome<DataResult>([&](auto token) { watches.get_data(path, std::move(token)); }).value());
  }
  error_code read_children(const std::string& path) {
    return std::get<0>(
        outcome<ChildrenResult>([&](auto token) { watches.get_children(path, std::move(token)); }).value());
  }
};

}  // namespace

TEST_CASE_METHOD(ListenerStage, "a listener is told of the event of each watch once") {
  REQUIRE_FALSE(read_data("/a"));
  REQUIRE_FALSE(read_data("/b"));
  set("/a", "2");
  set("/a", "3");
  CHECK(heard->events == Events{"data of /a"});
  set("/b", "2");
  CHECK(heard->events == Events{"data of /a", "data of /b"});
  REQUIRE_FALSE(read_data("/a"));
  set("/a", "4");
  CHECK(heard->events == Events{"data of /a", "data of /b", "data of /a"});
  CHECK(ensemble.watches().empty());
}

TEST_CASE_METHOD(ListenerStage, "a node that is read twice has one watch, and one that is deleted tells both kinds") {
  REQUIRE_FALSE(read_data("/a"));
  REQUIRE_FALSE(read_data("/a"));
  REQUIRE_FALSE(read_children("/a"));
  CHECK(ensemble.watches().size() == 2);
  remove("/a");
  CHECK(heard->events == Events{"data of /a", "children of /a"});
}

TEST_CASE_METHOD(ListenerStage, "a look for a node that is missing tells of its creation") {
  const auto there = outcome<std::optional<Stat>>([&](auto token) { watches.exists("/c", std::move(token)); }).value();
  CHECK_FALSE(std::get<0>(there));
  CHECK_FALSE(std::get<1>(there));
  create("/c");
  CHECK(heard->events == Events{"data of /c"});
}

TEST_CASE_METHOD(ListenerStage, "a watch that is forgotten is removed, and those of the other kind and path are not") {
  REQUIRE_FALSE(read_data("/a"));
  REQUIRE_FALSE(read_children("/a"));
  REQUIRE_FALSE(read_data("/b"));
  watches.forget(WatchKind::data, "/a");
  watches.forget(WatchKind::children, "/b");  // there is none
  run();
  CHECK(ensemble.watches().size() == 2);
  set("/a", "2");
  set("/b", "2");
  create("/a/1");
  CHECK(heard->events == Events{"data of /b", "children of /a"});
}

TEST_CASE_METHOD(ListenerStage, "a watch of another reader outlives the set's") {
  Watch watch = std::get<2>(outcome<DataResult, Watch>([&](auto token) {
                              reader.session().async_get_data_and_watch("/a", std::move(token));
                            }).value());
  REQUIRE_FALSE(read_data("/a"));
  watches.forget(WatchKind::data, "/a");
  run();
  CHECK(ensemble.watches().size() == 1);
  set("/a", "2");
  CHECK_FALSE(watch.is_set());
  CHECK(heard->events.empty());
}

TEST_CASE_METHOD(ListenerStage, "a listener is told of its watches over a lost link") {
  REQUIRE_FALSE(read_data("/a"));
  disconnect();
  CHECK(read_data("/b") == Error::not_connected);
  ensemble.set_data("/a", "2");
  connect();
  CHECK(heard->events == Events{"data of /a"});
}

TEST_CASE_METHOD(ListenerStage, "a listener is told nothing of the end of a session, nor of a set that is closed") {
  REQUIRE_FALSE(read_data("/a"));
  SECTION("the session ends") { lose_session(); }
  SECTION("the set is closed") {
    watches.close();
    set("/a", "2");
  }
  SECTION("the listener is gone") {
    std::weak_ptr<Heard> gone = heard;
    heard = std::make_shared<Heard>();
    CHECK(gone.expired());
    set("/a", "2");
  }
  CHECK(heard->events.empty());
}
