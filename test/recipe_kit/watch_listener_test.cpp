// One listener for the events of many watches.
#include "support/follow_stage.hpp"

#include <zklock/recipe_kit/watch_listener.hpp>

#include <string>
#include <vector>

using namespace zklock;
using namespace std::chrono_literals;

namespace {

struct Heard final : WatchListener {
  void on_watch_event(const WatchEvent& event) override { paths.push_back(event.path); }
  std::vector<std::string> paths;
};

/// A node, a watch of its data, and what is told of it.
struct ListenerStage : test::FollowStage {
  std::shared_ptr<Heard> heard = std::make_shared<Heard>();
  Watch watch;

  ListenerStage() {
    create("/a", "1");
    watch = std::get<2>(outcome<DataResult, Watch>([&](auto token) {
                          reader.session().async_get_data_and_watch("/a", std::move(token));
                        }).value());
    REQUIRE(watch.is_set());
  }
};

}  // namespace

TEST_CASE_METHOD(ListenerStage, "a listener is told of a watch's event once") {
  listen(watch, heard);
  set("/a", "2");
  set("/a", "3");
  CHECK(heard->paths == std::vector<std::string>{"/a"});
}

TEST_CASE_METHOD(ListenerStage, "a listener to a watch whose event has come is told of it later") {
  set("/a", "2");
  listen(watch, heard);
  CHECK(heard->paths.empty());
  run();
  CHECK(heard->paths == std::vector<std::string>{"/a"});
}

TEST_CASE_METHOD(ListenerStage, "a listener is told nothing of a watch that is gone, nor of the end of a session") {
  SECTION("before its event") {
    listen(watch, heard);
    watch = {};
    set("/a", "2");
  }
  SECTION("after its event") {
    set("/a", "2");
    listen(watch, heard);
    watch = {};
    run();
  }
  SECTION("with its session") {
    listen(watch, heard);
    ensemble.expire(reader.session().id());
    run(1s);
    CHECK_FALSE(watch.is_set());
  }
  CHECK(heard->paths.empty());
}

TEST_CASE_METHOD(ListenerStage, "a watch outlives its listener") {
  listen(watch, heard);
  heard.reset();
  set("/a", "2");
  CHECK_FALSE(watch.is_set());
}
