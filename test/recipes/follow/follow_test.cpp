// Follow on the fake ensemble: replies and events that come when they are not awaited any more.
#include "follow.hpp"

#include "support/follow_stage.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <string>
#include <vector>

using namespace zklock;
using namespace std::chrono_literals;

namespace {

using Texts = std::vector<std::string>;

const Item a{WatchKind::data, "/a"};
const Item b{WatchKind::data, "/b"};

/// Follows both nodes, and notes what it is told.
struct Noting final : Follower {
  explicit Noting(Follow& f) : follow{f} {}
  void on_data(const std::string& path, DataResult data) override {
    told.push_back(path + " is " + data.data);
    if (path == a.path) follow.add(b);
  }
  void on_children(const std::string& path, ChildrenResult) override { told.push_back("children of " + path); }
  void on_absent(const Item& item) override { told.push_back(item.path + " is absent"); }
  void on_unreadable(const Item& item, error_code) override { told.push_back(item.path + " is unreadable"); }
  void on_freshness(const Freshness&) override {}
  void on_end(error_code) override { told.emplace_back("end"); }

  Follow& follow;
  Texts told;
};

/// A latency of 10 ms: what the servers have sent at a moment is told 10 ms later.
struct Fixture : test::FollowStage {
  std::shared_ptr<Follow> follow = std::make_shared<Follow>(reader, a);
  std::shared_ptr<Noting> noting = std::make_shared<Noting>(*follow);

  Fixture() {
    create(a.path, "1");
    create(b.path, "1");
    follow->start(noting);
    ensemble.set_latency(10ms);
    run(1s);
    REQUIRE(told() == Texts{"/a is 1", "/b is 1"});
    REQUIRE(watched() == Texts{"/a", "/b"});
  }
  ~Fixture() {
    follow->stop();
    run();
  }

  Texts told() { return std::exchange(noting->told, {}); }
  Texts watched() {
    Texts paths;
    for (const testing::FakeWatch& each : ensemble.watches()) paths.push_back(each.path);
    return paths;
  }
  void hold() { ensemble.hold_replies(reader.session().id()); }
  void release() {
    ensemble.release_replies();
    run();
  }
  /// What is dirty is read now.
  void read() { asio::co_spawn(simulation.executor(), follow->refresh(), asio::detached); }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "the reply to a read of an item that was dropped since leaves no watch") {
  ensemble.set_data(b.path, "2");
  run(15ms);  // the event has come, and the read is on its way
  follow->drop(b);
  run();
  CHECK(told().empty());
  CHECK(watched() == Texts{"/a"});
}

TEST_CASE_METHOD(Fixture, "a reply that comes too late takes no watch from a later read of its item") {
  ensemble.set_data(b.path, "2");
  run(15ms);
  hold();
  follow->drop(b);
  follow->add(b);
  read();
  run();
  release();  // both replies come at once
  CHECK(told() == Texts{"/b is 2"});
  CHECK(watched() == Texts{"/a", "/b"});
  set(b.path, "3");
  CHECK(told() == Texts{"/b is 3"});
}

TEST_CASE_METHOD(Fixture, "the event of an item that was dropped meanwhile tells nothing, and leaves no watch") {
  hold();
  ensemble.set_data(b.path, "2");
  run();
  follow->drop(b);
  SECTION("it stays away") {
    release();
    CHECK(told().empty());
    CHECK(watched() == Texts{"/a"});
  }
  SECTION("it is followed again before the event comes") {
    follow->add(b);
    read();
    run();
    release();
    CHECK(told() == Texts{"/b is 2"});
    CHECK(watched() == Texts{"/a", "/b"});
    set(b.path, "3");
    CHECK(told() == Texts{"/b is 3"});
  }
}

TEST_CASE_METHOD(Fixture, "what comes after the stop tells nothing, and leaves no watch") {
  SECTION("an event") {
    hold();
    ensemble.set_data(b.path, "2");
    run();
  }
  SECTION("the reply to a read") {
    ensemble.set_data(b.path, "2");
    run(15ms);
    hold();
    run();
  }
  SECTION("the event of the read's own watch, with its reply") {
    ensemble.set_data(b.path, "2");
    run(15ms);
    hold();
    run();
    ensemble.set_data(b.path, "3");
    run();
  }
  follow->stop();
  run();
  CHECK(told() == Texts{"end"});
  release();
  CHECK(told().empty());
  CHECK(watched().empty());
}

TEST_CASE_METHOD(Fixture, "what comes after the object is gone does no harm, and its watches are gone with it") {
  ensemble.set_data(b.path, "2");
  run(15ms);
  hold();
  ensemble.set_data(a.path, "2");
  const std::weak_ptr<Follow> gone = follow;
  follow->stop();
  follow = std::make_shared<Follow>(reader, a);  // for the destructor
  run();
  CHECK(gone.expired());
  release();
  CHECK(told() == Texts{"end"});
  CHECK(watched().empty());
}
