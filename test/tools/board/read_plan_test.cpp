// The requests that a board makes, at times that the test chooses.
#include "board/read_plan.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

using namespace zklock;
using namespace zklock::tools;
using namespace std::chrono_literals;
using Kind = ReadRequest::Kind;

namespace {

/// A plan, and servers that answer at once.
struct Servers {
  explicit Servers(Budget with) : plan{with, {"/locks"}, now} { plan.set_viewed(true); }

  /// Lets the time pass in steps, and counts the requests by their kind and by their path.
  void run(Clock::duration time, std::size_t bytes = 100) {
    for (const auto end = now + time; now < end; now += 20ms) {
      for (const ReadRequest& request : plan.next(now)) {
        ++kinds[request.kind];
        ++paths[request.path];
        most = std::max(most, plan.in_flight());
        if (request.kind == Kind::read) plan.data_done();
        if (request.kind == Kind::list) plan.listed(request.path, bytes, false, now);
        if (request.kind == Kind::list_and_watch) plan.listed(request.path, bytes, true, now);
      }
    }
  }
  void reset() {
    kinds.clear();
    paths.clear();
  }
  [[nodiscard]] int reads() { return kinds[Kind::list] + kinds[Kind::list_and_watch] + kinds[Kind::read]; }

  Clock::time_point now{std::chrono::hours{1'000}};
  ReadPlan plan;
  std::map<Kind, int> kinds;
  std::map<std::string, int> paths;
  std::size_t most = 0;
};

std::vector<std::string> add_locks(Servers& servers, int number) {
  std::vector<std::string> all;
  for (int i = 0; i < number; ++i) {
    all.push_back("/locks/" + std::to_string(i));
    servers.plan.add(all.back(), servers.now);
  }
  return all;
}

}  // namespace

TEST_CASE("the base is watched, and listed again at an event, but not twice within a pause") {
  Servers servers{{}};
  servers.run(1s);
  CHECK(servers.kinds[Kind::list_and_watch] == 1);
  servers.plan.fired("/locks", servers.now);
  servers.reset();
  servers.run(40ms);
  CHECK(servers.kinds[Kind::list_and_watch] == 1);
  servers.plan.fired("/locks", servers.now);
  servers.run(180ms);
  CHECK(servers.kinds[Kind::list_and_watch] == 1);
  servers.run(100ms);
  CHECK(servers.kinds[Kind::list_and_watch] == 2);
}

TEST_CASE("a large directory is listed less often") {
  Servers servers{{}};
  servers.run(100ms, 200'000);
  servers.plan.fired("/locks", servers.now);
  servers.reset();
  servers.run(1'800ms);
  CHECK(servers.reads() == 0);
  servers.run(300ms);
  CHECK(servers.reads() == 1);
}

TEST_CASE("many locks cost no more than the budget, and each is listed in turn") {
  Servers servers{{}};
  const auto locks = add_locks(servers, 5'000);
  servers.run(20s);
  CHECK(servers.reads() <= 500 * 20 + 64);
  CHECK(servers.reads() >= 500 * 19);
  CHECK(servers.plan.watches() == 1);
  const auto times = [&](const std::string& path) { return servers.paths[path]; };
  CHECK(std::ranges::all_of(locks, [&](const auto& path) { return times(path) >= 1 && times(path) <= 3; }));
}

TEST_CASE("without viewers there is a slow sweep") {
  Servers servers{{}};
  add_locks(servers, 5'000);
  servers.plan.set_viewed(false);
  servers.run(20s);
  CHECK(servers.reads() <= 50 * 20 + 64);
}

TEST_CASE("a few locks are not listed all the time") {
  Servers servers{{}};
  add_locks(servers, 10);
  servers.run(1s);
  servers.reset();
  servers.run(10s);
  CHECK(servers.reads() <= 2 * 10);
}

TEST_CASE("what is looked at has a watch, at most so many, and for a while afterwards") {
  Servers servers{{.watches = 100}};
  const auto locks = add_locks(servers, 500);
  servers.run(2s);
  servers.plan.look_at(locks, servers.now);
  servers.run(2s);
  CHECK(servers.plan.watches() == 100);
  servers.plan.look_at({}, servers.now);
  servers.run(9s);
  CHECK(servers.plan.watches() == 100);
  servers.run(2s);
  CHECK(servers.plan.watches() == 1);
  CHECK(servers.kinds[Kind::forget] == 99);
}

TEST_CASE("what is looked at goes ahead of thousands that are only due") {
  Servers servers{{}};
  const auto locks = add_locks(servers, 5'000);
  servers.run(100ms);
  servers.plan.look_at({locks[4'711]}, servers.now);
  servers.run(40ms);
  CHECK(servers.paths[locks[4'711]] == 1);
  CHECK(servers.kinds[Kind::list_and_watch] == 2);  // the base, too
  servers.run(300ms);
  servers.plan.fired(locks[4'711], servers.now);
  servers.run(40ms);
  CHECK(servers.paths[locks[4'711]] == 2);
}

TEST_CASE("what is looked at first has its watch first, whatever was due before") {
  Servers servers{{}};
  const auto locks = add_locks(servers, 3'000);
  servers.run(100ms);
  servers.plan.look_at({locks[2'999]}, servers.now);
  std::vector<std::string> seen{locks.begin(), locks.begin() + 1'000};
  seen.push_back(locks[2'999]);
  servers.now += 1ms;
  servers.plan.look_at(seen, servers.now);
  servers.run(60ms);
  CHECK(servers.paths[locks[2'999]] == 1);
}

TEST_CASE("an event goes ahead of watches that are not there yet, and data that some viewer sees ahead of the rest") {
  Servers servers{{}};
  const auto locks = add_locks(servers, 3'000);
  servers.run(20s);
  servers.plan.look_at({locks[0]}, servers.now);
  servers.run(1s);
  servers.plan.look_at({locks.begin(), locks.begin() + 1'500}, servers.now);
  std::vector<std::string> nodes;
  for (const std::string& path : locks) nodes.push_back(path + "/node");
  servers.plan.want_data(nodes, false);
  servers.run(40ms);
  servers.plan.fired(locks[0], servers.now);
  servers.plan.want_data({nodes.back()}, true);
  servers.reset();
  servers.run(40ms);
  CHECK(servers.paths[locks[0]] == 1);
  CHECK(servers.paths[nodes.back()] == 1);
  servers.run(30s);
  CHECK(servers.paths[nodes.back()] == 1);
}

TEST_CASE("busy locks that are looked at starve neither the rest nor nodes' data") {
  Servers servers{{}};
  const auto locks = add_locks(servers, 3'000);
  servers.run(10s);
  const std::vector<std::string> seen{locks.begin(), locks.begin() + 1'000};
  servers.reset();
  for (int i = 0; i < 200; ++i) {
    servers.plan.look_at(seen, servers.now);
    for (const std::string& path : seen) servers.plan.fired(path, servers.now - 1s);
    servers.plan.want_data({"/locks/0/" + std::to_string(i)}, false);
    servers.run(100ms);
  }
  CHECK(servers.reads() <= 500 * 20 + 64);
  CHECK(servers.kinds[Kind::read] == 200);
  CHECK(servers.paths[locks[2'999]] + servers.paths[locks[2'000]] >= 1);
  CHECK(servers.paths[locks[0]] >= 3);
}

TEST_CASE("no more requests are under way than allowed") {
  Servers servers{{.in_flight = 8}};
  add_locks(servers, 100);
  CHECK(servers.plan.next(servers.now + 10s).size() == 8);
  CHECK(servers.plan.next(servers.now + 20s).empty());
  servers.plan.list_failed("/locks", servers.now + 20s);
  CHECK(servers.plan.next(servers.now + 20s).size() == 1);
}

TEST_CASE("a listing that has failed is tried again after a second") {
  Servers servers{{}};
  servers.now += 1s;
  REQUIRE(servers.plan.next(servers.now).size() == 1);
  servers.plan.list_failed("/locks", servers.now);
  CHECK(servers.plan.next(servers.now + 900ms).empty());
  CHECK(servers.plan.next(servers.now + 1'100ms) == std::vector<ReadRequest>{{Kind::list_and_watch, "/locks"}});
}

TEST_CASE("what is removed is asked for no more, and its late outcome harms nothing") {
  Servers servers{{}};
  servers.plan.add("/locks/a", servers.now);
  servers.plan.add("/locks/a/b", servers.now);
  servers.plan.add("/locks/a-b", servers.now);
  servers.now += 1s;
  CHECK(servers.plan.next(servers.now).size() == 4);
  servers.plan.remove("/locks/a");
  CHECK(servers.plan.directories() == 2);
  CHECK(servers.plan.in_flight() == 2);
  servers.plan.listed("/locks/a", 10, true, servers.now);
  servers.plan.fired("/locks/a", servers.now);
  CHECK(servers.plan.watches() == 0);
}

TEST_CASE("each directory beyond the bound is refused") {
  Servers servers{{.directories = 3}};
  CHECK(servers.plan.add("/locks/a", servers.now));
  CHECK(servers.plan.add("/locks/b", servers.now));
  CHECK_FALSE(servers.plan.add("/locks/c", servers.now));
  CHECK(servers.plan.add("/locks/a", servers.now));
}
