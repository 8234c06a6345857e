// CuratorCache on the fake ensemble: what it holds, what it tells, and what it asks for.
#include "support/follow_stage.hpp"

#include <zklock/recipes/caches/cache_views.hpp>

#include <vector>

using namespace zklock;
using namespace zklock::test;
using namespace std::chrono_literals;

namespace {

using Type = CacheEvent::Type;
using Requests = std::map<std::string, int>;
using State = Freshness::State;

const std::string path = "/app";

struct Fixture : FollowStage {
  Fixture() {
    create(path, "root");
    create(path + "/a", "1");
    create(path + "/b", "2");
    create(path + "/a/x", "3");
  }

  CuratorCache cache(CacheOptions options = {}) {
    CuratorCache made{reader, path, std::move(options)};
    run();
    return made;
  }
  static std::string data_of(const CuratorCache& cache, const std::string& node) {
    const ChildDataPtr found = cache.get(node);
    return found ? found->data : "missing";
  }
  /// Type and path of the events that are unread.
  std::vector<std::string> read(CacheEvents& events) {
    std::vector<std::string> texts;
    while (const auto event = next(events)) {
      texts.push_back(std::string{to_string(event->type)});
      if (!event->path.empty()) texts.back() += " " + event->path;
    }
    return texts;
  }
  /// Whether the cache is what the ensemble has.
  [[nodiscard]] bool is_right(const CuratorCache& cache) const {
    CacheSnapshot truth;
    for (const testing::FakeNode& node : ensemble.nodes())
      if (node.path == path || node.path.starts_with(path + "/"))
        truth[node.path] = std::make_shared<ChildData>(ChildData{node.path, node.data, node.stat});
    const auto shown = cache.snapshot();
    return std::ranges::equal(*shown, truth, [](const auto& left, const auto& right) {
      return left.first == right.first && left.second->data == right.second->data &&
             left.second->stat.mzxid == right.second->stat.mzxid && left.second->stat.czxid == right.second->stat.czxid;
    });
  }
  std::optional<std::tuple<error_code>> refresh(const CuratorCache& from) {
    return outcome<>([&](auto token) { from.async_refresh(std::move(token)); });
  }
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE_METHOD(Fixture,
                 "a cache reads each node once and each list once, and tells all that is there, parents first") {
  const CuratorCache made = cache();
  CHECK(requests() == Requests{{"sync", 1}, {"get_data", 4}, {"get_children", 4}});
  CacheEvents events = made.events();
  CHECK(read(events) ==
        Texts{"created /app", "created /app/a", "created /app/a/x", "created /app/b", "initialized", "live"});
  CHECK(made.size() == 4);
  CHECK(data_of(made, path + "/a/x") == "3");
  CHECK(made.children(path).size() == 2);
  CHECK(made.children(path).at("b")->data == "2");
  CHECK(made.freshness().state == State::live);
  CHECK(outcome<>([&](auto token) { made.async_wait_initialized(std::move(token)); }) == std::tuple{error_code{}});
}

TEST_CASE_METHOD(Fixture, "a cache of the tree's root holds its children by their own paths, as deep as it is told") {
  const CuratorCache made{reader, "/", CacheOptions{}.depth(1)};
  run();
  CHECK(made.children("/").contains("app"));
  CHECK(data_of(made, "/") == "");
  CHECK(data_of(made, path) == "root");
  CHECK(data_of(made, path + "/a") == "missing");
  CacheEvents events = made.events();
  read(events);
  create("/other");
  set(path, "new");
  CHECK(read(events) == Texts{"created /other", "changed /app"});
}

TEST_CASE_METHOD(Fixture, "a cache is initialized before it has listed the leaves, and live after it") {
  std::vector<std::string> calls;
  CuratorCache made{reader, path};
  CacheEvents events = made.events();
  ensemble.set_latency(10ms);
  while (made.freshness().state != State::live) {
    run(1ms);
    const auto asked_now = *asked;
    if (const auto event = next(events); event && event->type == Type::initialized) {
      CHECK(asked_now.at("get_data") == 4);
      CHECK(made.freshness().state == State::stale);
    }
  }
  CHECK(requests() == Requests{{"sync", 1}, {"get_data", 4}, {"get_children", 4}});
}

TEST_CASE_METHOD(Fixture, "a change of data costs a cache one read, a new node a list and its own two") {
  const CuratorCache made = cache();
  CacheEvents events = made.events();
  read(events);
  requests();
  set(path + "/a/x", "4");
  CHECK(requests() == Requests{{"get_data", 1}});
  CHECK(read(events) == Texts{"changed /app/a/x"});
  create(path + "/b/y");
  CHECK(requests() == Requests{{"get_data", 1}, {"get_children", 2}});
  CHECK(read(events) == Texts{"created /app/b/y"});
  create(path + "/b/e", "", CreateMode::ephemeral);
  CHECK(requests() == Requests{{"get_data", 1}, {"get_children", 1}});
  remove(path + "/b/e");
  remove(path + "/b/y");
  CHECK(requests() == Requests{{"get_children", 2}});  // a list each, and no read of what is gone
  CHECK(read(events) == Texts{"deleted /app/b/y"});    // the other one came and went
  CHECK(is_right(made));
}

TEST_CASE_METHOD(Fixture, "many nodes that come and go at once cost one list") {
  const CuratorCache made = cache();
  requests();
  ensemble.set_latency(5ms);
  for (int i = 0; i < 10; ++i)
    writer.async_create(path + "/b/n" + std::to_string(i), "", CreateMode::ephemeral, [](error_code, CreateResult) {});
  run(1s);
  Requests asked_for = requests();
  CHECK(asked_for["get_data"] == 10);
  CHECK(asked_for["get_children"] <= 2);  // the first event may come before the last create
  for (int i = 0; i < 10; ++i) writer.async_remove(path + "/b/n" + std::to_string(i), [](error_code) {});
  run(1s);
  asked_for = requests();
  CHECK(asked_for["get_data"] == 0);
  CHECK(asked_for["get_children"] <= 2);
  CHECK(is_right(made));
}

TEST_CASE_METHOD(Fixture, "after a lost link a cache asks for what has changed, and for nothing else") {
  const CuratorCache made = cache();
  CacheEvents events = made.events();
  read(events);
  requests();
  disconnect();
  CHECK(made.freshness().state == State::stale);
  connect();
  CHECK(requests() == Requests{{"sync", 1}});
  CHECK(read(events) == Texts{"live"});
  disconnect();
  set(path + "/a", "10");
  set(path + "/a/x", "11");
  set(path + "/a/x", "12");
  connect();
  CHECK(requests() == Requests{{"sync", 1}, {"get_data", 2}});
  CHECK(read(events) == Texts{"changed /app/a", "changed /app/a/x", "live"});
  CHECK(is_right(made));
}

TEST_CASE_METHOD(Fixture, "a cache is not live before all that was missed is read") {
  const CuratorCache made = cache();
  CacheEvents events = made.events();
  read(events);
  disconnect();
  set(path + "/a", "10");
  create(path + "/b/y");
  ensemble.set_latency(20ms);
  ensemble.accept_connections();
  for (int i = 0; i < 2000 && made.freshness().state != State::live; ++i) run(1ms);
  CHECK(is_right(made));
  CHECK(made.freshness().state == State::live);
  const Texts texts = read(events);
  CHECK(texts.back() == "live");
}

TEST_CASE_METHOD(Fixture, "a cache sees nodes that were deleted and created again unseen, with the same version") {
  const CuratorCache made = cache();
  CacheEvents events = made.events();
  read(events);
  const std::int64_t before = made.get(path + "/a")->stat.czxid;
  disconnect();
  remove(path + "/a/x");
  remove(path + "/a");
  create(path + "/a", "1");
  create(path + "/a/z", "5");
  connect();
  CHECK(made.get(path + "/a")->stat.czxid > before);
  CHECK(is_right(made));
  remove(path + "/a/z");
  remove(path + "/a");
  create(path + "/a", "1");
  create(path + "/a/z", "6");
  run();
  CHECK(is_right(made));
}

TEST_CASE_METHOD(Fixture, "a new node that a cache has read is not told to be gone because its parent is new, too") {
  const CuratorCache made = cache();
  CacheEvents events = made.events();
  read(events);
  disconnect();
  remove(path + "/a/x");
  remove(path + "/a");
  create(path + "/a", "1");
  create(path + "/a/x", "3");
  create(path + "/a/y", "4");
  ensemble.set_latency(5ms);
  ensemble.accept_connections();
  Texts told;
  while (made.freshness().state != State::live) {
    run(1ms);
    for (const std::string& text : read(events))
      if (text.ends_with("x")) told.push_back(text);
  }
  CHECK(told == Texts{"changed /app/a/x"});
  CHECK(is_right(made));
}

TEST_CASE_METHOD(Fixture, "a new session makes a cache read all again, and tells what has changed") {
  create(path + "/b/e", "", CreateMode::ephemeral);
  const CuratorCache made = cache();
  CacheEvents events = made.events();
  read(events);
  ensemble.refuse_connections();
  ensemble.expire(reader.session().id());
  remove(path + "/b/e");
  set(path + "/a", "9");
  ensemble.accept_connections();
  run(15s);
  const Texts texts = read(events);
  CHECK(std::ranges::count(texts, "changed /app/a") == 1);
  CHECK(std::ranges::count(texts, "deleted /app/b/e") == 1);
  CHECK(texts.back() == "live");
  CHECK(texts.size() == 3);
  CHECK(is_right(made));
}

TEST_CASE_METHOD(Fixture, "the root of a cache may come and go") {
  remove(path + "/a/x");
  remove(path + "/a");
  remove(path + "/b");
  remove(path);
  const CuratorCache made = cache();
  CacheEvents events = made.events();
  CHECK(read(events) == Texts{"initialized", "live"});
  create(path);
  create(path + "/c");
  CHECK(read(events) == Texts{"created /app", "created /app/c"});
  remove(path + "/c");
  remove(path);
  CHECK(read(events) == Texts{"deleted /app/c", "deleted /app"});
  CHECK(ensemble.watches().size() == 1);
  create(path);
  CHECK(read(events) == Texts{"created /app"});
}

TEST_CASE_METHOD(Fixture, "an unreadable node is an entry with its error, and does not hold up the rest") {
  const NodeOptions closed{CreateMode::persistent, Acl{{Permission::all, "ip", "10.0.0.1"}}};
  create(path + "/closed", "secret", closed);
  const CuratorCache made = cache();
  CHECK(made.freshness().state == State::live);
  CHECK(made.get(path + "/closed")->error == Error::no_auth);
  CHECK(made.get(path + "/closed")->data.empty());
  CacheEvents events = made.events();
  const Texts texts = read(events);
  CHECK(std::ranges::count(texts, "unreadable /app/closed") == 1);
  remove(path + "/closed");
  CHECK(read(events) == Texts{"deleted /app/closed"});
}

TEST_CASE_METHOD(Fixture, "a cache that cannot follow all says so at each wait and refresh, until it can") {
  Client& narrow = simulation.client("narrow", {.session_timeout = 10s, .max_buffer = 1'024});
  const std::string too_long = path + "/" + std::string(1'100, 'n');
  create(too_long);
  const CuratorCache made{narrow, path};
  run(1s);
  const std::tuple refused{make_error_code(Error::payload_too_large)};
  const std::tuple success{error_code{}};
  const auto initialized = [&] {
    return outcome<>([&](auto token) { made.async_wait_initialized(std::move(token)); });
  };
  CHECK(initialized() == refused);
  CHECK(refresh(made) == refused);
  CHECK(made.freshness().state == State::stale);
  CHECK(made.get(too_long)->error == Error::payload_too_large);
  remove(too_long);
  run(1s);
  CHECK(initialized() == success);
  CHECK(refresh(made) == success);
  CHECK(made.freshness().state == State::live);
  CHECK(is_right(made));
}

TEST_CASE_METHOD(Fixture, "the views of a cache hold one node, its children, or a part of the tree") {
  const NodeCache node{reader, path};
  const PathChildrenCache children{reader, path};
  const CuratorCache some = cache(
      CacheOptions{}.depth(1).without_data().select([](const std::string& each) { return !each.ends_with("/b"); }));
  CHECK(node.current()->data == "root");
  CHECK(node.size() == 1);
  CHECK(children.size() == 2);
  CHECK_FALSE(children.get(path));
  CHECK(children.current().at("a")->data == "1");
  CacheEvents events = children.events();
  CHECK(read(events) == Texts{"created /app/a", "created /app/b", "initialized", "live"});
  CHECK(some.size() == 2);
  CHECK(some.get(path + "/a")->data.empty());
  CHECK(some.get(path + "/a")->stat.data_length == 1);
}

TEST_CASE_METHOD(Fixture, "a cache decompresses, and what is not compressed is unreadable") {
  create(path + "/c", "packed", CreateOptions{CreateMode::persistent}.compressed());
  const CuratorCache made = cache(CacheOptions{}.decompressed());
  CHECK(data_of(made, path + "/c") == "packed");
  CHECK(made.get(path + "/a")->error == Error::invalid_data);
}

TEST_CASE_METHOD(Fixture, "what a codec throws at is unreadable, and so is what decodes to too much") {
  struct Own final : Codec {
    [[nodiscard]] std::string encode(std::string_view data) const override { return std::string{data}; }
    [[nodiscard]] std::string decode(std::string_view data) const override {
      if (data == "1") throw std::runtime_error{"no such thing"};
      if (data == "2") throw std::bad_alloc{};
      if (data == "3") throw 7;
      return data == "long" ? std::string(101, 'l') : std::string{data};
    }
  };
  Client& other = simulation.client("other", {.codec = std::make_shared<Own>(), .max_decoded = 100});
  Client& small = simulation.client("small", {.max_decoded = 100});
  create(path + "/c", "long");
  create(path + "/d", std::string(100, 'd'), CreateOptions{CreateMode::persistent}.compressed());
  create(path + "/e", std::string(101, 'e'), CreateOptions{CreateMode::persistent}.compressed());
  const CuratorCache made{other, path, CacheOptions{}.decompressed()};
  const CuratorCache packed{small, path, CacheOptions{}.decompressed()};
  run();
  for (const char* each : {"/a", "/b", "/a/x", "/c"}) CHECK(made.get(path + each)->error == Error::invalid_data);
  CHECK(data_of(made, path) == "root");
  CHECK(made.freshness().state == State::live);
  CHECK(data_of(packed, path + "/d") == std::string(100, 'd'));
  CHECK(packed.get(path + "/e")->error == Error::invalid_data);
}

TEST_CASE_METHOD(Fixture, "a refresh, and a wait for an own write, are no older than their call") {
  const CuratorCache made = cache();
  ensemble.hold_replies(reader.session().id());
  set(path + "/a", "7");
  const auto nodes = ensemble.nodes();
  const std::int64_t written = std::ranges::find(nodes, path + "/a", &testing::FakeNode::path)->stat.mzxid;
  auto waited = std::make_shared<int>(0);
  made.async_wait_seen(path + "/a", written, asio::bind_executor(simulation.executor(), [&made, waited](error_code e) {
                         *waited = !e && data_of(made, path + "/a") == "7" ? 1 : -1;
                       }));
  run();
  CHECK(*waited == 0);
  ensemble.release_replies();
  run();
  CHECK(*waited == 1);
  CHECK(outcome<>([&](auto token) { made.async_wait_seen(path + "/a", written, std::move(token)); }) ==
        std::tuple{error_code{}});
  remove(path + "/a/x");
  CHECK(refresh(made) == std::tuple{error_code{}});
  CHECK(is_right(made));
  disconnect();
  CHECK_FALSE(refresh(made));
  connect();
}

TEST_CASE_METHOD(Fixture, "a wait for a cache ends in time, when it is cancelled, and with its client or its cache") {
  disconnect();
  auto made = std::make_unique<CuratorCache>(reader, path);
  const auto late = outcome<>([&](auto token) { made->async_wait_initialized(50ms, std::move(token)); });
  CHECK(late == std::tuple{make_error_code(Error::timed_out)});
  std::optional<error_code> ended;
  made->async_refresh(asio::bind_executor(simulation.executor(), [&ended](error_code error) { ended = error; }));
  made.reset();
  run();
  CHECK(ended == make_error_code(Error::closing));
  connect();
  ensemble.hold_replies(reader.session().id());
  const CuratorCache other{reader, path};
  ended.reset();
  other.async_refresh(asio::bind_executor(simulation.executor(), [&ended](error_code error) { ended = error; }));
  reader.async_close([](error_code) {});
  run(10s);
  CHECK(ended == make_error_code(Error::closed));
  CHECK(other.freshness().state == State::gone);
  CHECK_THROWS_AS(CuratorCache(reader, "app"), boost::system::system_error);
}

TEST_CASE_METHOD(Fixture, "a cache leaves no watch behind, and its streams end with it") {
  auto made = std::make_unique<CuratorCache>(reader, path);
  run();
  CHECK(ensemble.watches().size() == 8);
  CacheEvents events = made->events();
  read(events);
  made.reset();
  run();
  CHECK(ensemble.watches().empty());
  const auto ended = outcome<CacheEvent>([&](auto token) { events.async_next(std::move(token)); });
  CHECK(std::get<0>(ended.value()) == Error::closing);
}
