// A group on the fake ensemble: which members are shown together, and how fresh they are said to be.
#include "support/follow_stage.hpp"

#include <zklock/recipes/nodes/group.hpp>

#include <string>
#include <vector>

using namespace zklock;
using namespace zklock::test;
using namespace std::chrono_literals;

namespace {

const std::string path = "/group";

struct Fixture : FollowStage {
  Fixture() {
    create(path);
    create(path + "/a", "1");
    create(path + "/b", "2");
  }

  static std::string shown(const GroupMembers& now) {
    std::string all;
    for (const auto& [id, member] : now.members) all += id + member.payload + " ";
    return all;
  }
  /// Lets time pass, a millisecond a time, and returns what is shown meanwhile.
  std::vector<std::string> watch(const Group& group, int milliseconds) {
    std::vector<std::string> sets;
    for (int i = 0; i < milliseconds; ++i) {
      run(1ms);
      std::string now = shown(group.members());
      if (sets.empty() || sets.back() != now) sets.push_back(std::move(now));
    }
    return sets;
  }
  /// The same of what is shown as live, with a latency of 5 ms. A member that the reader is about to read for the first
  /// time is deleted ahead of that, and so late behind the list that the next list comes later than all reads.
  std::vector<std::string> watch_live(const Group& group, const std::string& member, int milliseconds) {
    std::optional<int> left;
    std::vector<std::string> sets;
    for (int i = 0; i < milliseconds; ++i) {
      run(1ms);
      if (!left && (*asked)["get_children"] > 0) left = 4;
      if (left && (*left)-- == 0) ensemble.remove(member);
      const GroupMembers now = group.members();
      if (now.is_live() && (sets.empty() || sets.back() != shown(now))) sets.push_back(shown(now));
    }
    CHECK(left);
    return sets;
  }
  std::optional<std::tuple<error_code>> wait_for(const Group& group, std::size_t number) {
    return outcome<>([&](auto token) { group.async_wait_for(number, 50ms, std::move(token)); });
  }
  void set_acl(const Acl& acl) {
    const auto set = outcome<>([&](auto token) { writer.async_set_acl(path, acl, any_version, std::move(token)); });
    REQUIRE(set == std::tuple{error_code{}});
  }
};

using Sets = std::vector<std::string>;

}  // namespace

TEST_CASE_METHOD(Fixture, "a group whose directory may not be read any more says so, and shows its last members") {
  const Group group{reader, path};
  run();
  CHECK(group.members().is_live());
  set_acl({{Permission::create | Permission::admin, "world", "anyone"}});
  ensemble.remove(path + "/a");
  run();
  GroupMembers now = group.members();
  CHECK(now.freshness.state == Freshness::State::stale);
  CHECK(now.error == Error::no_auth);
  CHECK(shown(now) == "a1 b2 ");
  CHECK(wait_for(group, 0) == std::tuple{make_error_code(Error::timed_out)});
  const Clock::time_point since = now.freshness.since;
  set(path + "/b", "3");  // which is read, and not shown beside a
  run(40s);
  now = group.members();
  CHECK(now.error == Error::no_auth);
  CHECK(now.freshness.since == since);
  CHECK(shown(now) == "a1 b2 ");

  set_acl(open_acl());
  run(40s);
  now = group.members();
  CHECK(now.is_live());
  CHECK_FALSE(now.error);
  CHECK(shown(now) == "b3 ");
  CHECK(wait_for(group, 1) == std::tuple{error_code{}});
}

TEST_CASE_METHOD(Fixture, "a group whose directory may not be read from the start is not live, and waits for it") {
  set_acl({{Permission::create | Permission::admin, "world", "anyone"}});
  const Group group{reader, path};
  run();
  CHECK_FALSE(group.members().is_live());
  CHECK(group.members().error == Error::no_auth);
  std::optional<error_code> ended;
  group.async_wait_for(2, asio::bind_executor(simulation.executor(), [&](error_code error) { ended = error; }));
  run(40s);
  CHECK_FALSE(ended);
  set_acl(open_acl());
  run(40s);
  CHECK(ended == error_code{});
  CHECK(shown(group.members()) == "a1 b2 ");
}

TEST_CASE_METHOD(Fixture, "a group whose directory is deleted while it may not be read is empty, and live") {
  const Group group{reader, path};
  run();
  set_acl({{Permission::create | Permission::admin, "world", "anyone"}});
  ensemble.remove(path + "/a");
  run();
  CHECK_FALSE(group.members().is_live());
  ensemble.remove(path + "/b");
  ensemble.remove(path);
  run(40s);
  CHECK(group.members().is_live());
  CHECK_FALSE(group.members().error);
  CHECK(group.members().members.empty());
}

TEST_CASE_METHOD(Fixture, "a member that left and joined again is not shown as it was beside one that came later") {
  const Group group{reader, path};
  run();
  ensemble.set_latency(5ms);
  const auto ignored = [](error_code, auto&&...) {};
  writer.async_remove(path + "/a", ignored);
  writer.async_create(path + "/c", "3", CreateMode::persistent, ignored);
  writer.async_create(path + "/a", "4", CreateMode::persistent, ignored);
  for (const std::string& set : watch(group, 100)) {
    INFO(set);
    CHECK((set == "a1 b2 " || set == "b2 " || set == "b2 c3 " || set == "a4 b2 c3 "));
  }
  CHECK(shown(group.members()) == "a4 b2 c3 ");
}

TEST_CASE_METHOD(Fixture,
                 "a member that joined again behind as many others as are read at once is not shown as it was") {
  create(path + "/z", "3");
  const Group group{reader, path};
  run();
  ensemble.set_latency(5ms);
  const auto ignored = [](error_code, auto&&...) {};
  writer.async_remove(path + "/z", ignored);
  for (int i = 100; i < 164; ++i)
    writer.async_create(path + "/n" + std::to_string(i), "", CreateMode::persistent, ignored);
  writer.async_create(path + "/z", "4", CreateMode::persistent, ignored);
  for (const std::string& set : watch(group, 100)) {
    INFO(set);
    CHECK((set == "a1 b2 z3 " || set.ends_with("n163 z4 ")));
  }
  CHECK(group.members().members.size() == 67);
}

TEST_CASE_METHOD(Fixture, "a member that joined again is not shown beside one that had left before") {
  const Group group{reader, path};
  run();
  for (const char* first : {"a", "b"}) {
    const std::string other = first == std::string{"a"} ? "/b" : "/a";
    disconnect();
    remove(path + other);
    remove(path + "/" + first);
    create(path + "/" + first, "9");
    ensemble.set_latency(5ms);
    ensemble.accept_connections();
    for (const std::string& set : watch(group, 3'000)) {
      INFO(set);
      CHECK((set == "a1 b2 " || set == "a9 " || set == "a9 b2 " || set == "b9 "));
      if (first == std::string{"a"}) CHECK(set != "a9 b2 ");
    }
    CHECK(shown(group.members()) == first + std::string{"9 "});
    ensemble.set_latency(0ms);
    create(path + other, "2");
    run();
  }
}

TEST_CASE_METHOD(Fixture, "a group is not live before its members are known, though all was read once") {
  ensemble.set_latency(5ms);
  requests();
  const Group group{reader, path};
  std::optional<std::string> waited;
  group.async_wait_for(0, asio::bind_executor(simulation.executor(), [&](error_code error) {
                         CHECK_FALSE(error);
                         waited = shown(group.members());
                       }));
  CHECK(watch_live(group, path + "/a", 100) == Sets{"b2 "});
  CHECK(waited == "b2 ");
}

TEST_CASE_METHOD(Fixture, "a group that is live again has no member that left before the link was made") {
  const Group group{reader, path};
  run();
  REQUIRE(group.members().is_live());
  disconnect();
  const Clock::time_point cut = Clock::now();
  CHECK(group.members().freshness.state == Freshness::State::stale);
  remove(path + "/a");
  create(path + "/c", "3");
  requests();
  ensemble.set_latency(5ms);
  ensemble.accept_connections();
  CHECK(watch_live(group, path + "/c", 3'000) == Sets{"b2 "});
  CHECK(group.members().freshness.since > cut);
}

TEST_CASE_METHOD(Fixture, "a group with more members than its session may watch says so, until it has fewer") {
  Client& narrow = simulation.client("narrow", {.session_timeout = 10s, .max_buffer = 1'024});
  const auto name = [](int number) { return path + "/" + std::string(30, 'm') + std::to_string(number); };
  const Group group{narrow, path};
  std::optional<error_code> ended;
  group.async_wait_for(20, asio::bind_executor(simulation.executor(), [&](error_code error) { ended = error; }));
  for (int round = 0; round < 2; ++round) {
    CAPTURE(round);
    for (int i = 0; i < 20; ++i) create(name(i));
    run();
    const GroupMembers many = group.members();
    CHECK(many.members.size() == 22);
    CHECK(many.error == Error::too_many_watches);
    CHECK(many.freshness.state == Freshness::State::stale);
    CHECK(ended == make_error_code(Error::too_many_watches));
    CHECK(wait_for(group, 1) == std::tuple{make_error_code(Error::too_many_watches)});

    for (int i = 0; i < 20; ++i) ensemble.remove(name(i));
    run();
    const GroupMembers few = group.members();
    CHECK(few.is_live());
    CHECK_FALSE(few.error);
    CHECK(shown(few) == "a1 b2 ");
    CHECK(wait_for(group, 2) == std::tuple{error_code{}});
  }
}
