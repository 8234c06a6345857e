// What a list of participants costs, in round trips, and that it survives faults.
#include "support/catch.hpp"

#include <zklock/recipes/leader/leader_latch.hpp>
#include <zklock/recipes/locks/inter_process_mutex.hpp>
#include <zklock/recipes/locks/inter_process_semaphore.hpp>
#include <zklock/testing/simulation.hpp>

#include <boost/asio/bind_executor.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

constexpr int count = 1'000;
constexpr Clock::duration round_trip = 20ms;

struct Fixture {
  Simulation simulation{1, {.latency = 10ms}};
  FakeEnsemble& ensemble = simulation.ensemble();
  Client& client =
      simulation.client("a", {.session_timeout = 10s, .operation_timeout = 5s, .retry = RetryForever{.wait = 20ms}});
  std::size_t in_flight = 0;
  std::size_t longest_flight = 0;

  Fixture() {
    run(1s);
    ensemble.on_call([this](const FakeCall& call) {
      if (call.operation != "get_data") return FakeFault::none;
      if (!call.applied) longest_flight = std::max(longest_flight, ++in_flight);
      return FakeFault::none;
    });
  }
  void run(Clock::duration wait) { simulation.clock().run_for(simulation.context(), wait); }

  void make(const std::string& directory, const std::string& marker, int nodes) {
    for (const std::string& path : {std::string{"/lock"}, directory})
      client.session().async_create(path, "", CreateMode::persistent, [](error_code, const CreateResult&) {});
    for (int i = 0; i < nodes; ++i)
      client.session().async_create(directory + "/_c_" + std::to_string(i) + marker, "me:1",
                                    CreateMode::persistent_sequential, [](error_code, const CreateResult&) {});
    run(10s);
    REQUIRE(std::cmp_greater(ensemble.nodes().size(), nodes));
  }
  /// Makes nodes of each kind of participants, and calls the body with the recipe.
  template <class Body>
  void of_each_kind(int nodes, Body body) {
    SECTION("of a mutex") {
      make("/lock/mutex", "-lock-", nodes);
      body(InterProcessMutex{client, "/lock/mutex"});
    }
    SECTION("of a semaphore") {
      make("/lock/leases", "-lease-", nodes);
      body(InterProcessSemaphore{client, "/lock", count});
    }
    SECTION("of an election") {
      make("/lock/leader", "-latch-", nodes);
      body(LeaderLatch{client, "/lock/leader"});
    }
  }
  /// Lists, within so many round trips.
  template <class Recipe>
  auto list(const Recipe& recipe, int round_trips) {
    std::optional<decltype(recipe.participants())> listed;
    recipe.async_participants(
        asio::bind_executor(simulation.executor(), [&](error_code error, decltype(recipe.participants()) participants) {
          REQUIRE_FALSE(error);
          listed = std::move(participants);
        }));
    for (int i = 0; i < round_trips && !listed; ++i) {
      in_flight = 0;
      run(round_trip);
    }
    REQUIRE(listed);
    return std::move(*listed);
  }
  /// Lists three, with one fault: at the first of the requests, at the second one, and so on.
  template <class Recipe>
  void list_despite_faults(const Recipe& recipe) {
    for (const FakeFault fault : {FakeFault::cut, FakeFault::expire}) {
      int requests = 0;
      for (int struck = 0; struck <= requests; ++struck) {
        requests = 0;
        ensemble.on_call([&](const FakeCall& call) {
          if (call.operation != "get_children" && call.operation != "get_data") return FakeFault::none;
          return requests++ == struck ? fault : FakeFault::none;
        });
        CHECK(list(recipe, 500).size() == 3);
      }
      CHECK(requests == 8);  // four, each once before and once after it was applied
    }
    ensemble.on_call({});
  }
  /// The links are lost at each read of a node.
  template <class Recipe>
  void give_up_in_time(const Recipe& recipe) {
    ensemble.on_call(
        [](const FakeCall& call) { return call.operation == "get_data" ? FakeFault::cut : FakeFault::none; });
    std::optional<error_code> outcome;
    recipe.async_participants(
        asio::bind_executor(simulation.executor(), [&](error_code error, const auto&) { outcome = error; }));
    run(4'900ms);
    CHECK_FALSE(outcome);
    run(200ms);
    REQUIRE(outcome);
    CHECK((outcome == Error::timed_out || outcome == Error::connection_loss));
    ensemble.on_call({});
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a thousand participants are listed in six round trips, at most 200 nodes in each") {
  of_each_kind(count, [&](const auto& recipe) {
    const auto participants = list(recipe, 6);
    REQUIRE(participants.size() == count);
    CHECK(std::ranges::is_sorted(participants, {}, [](const auto& each) { return each.fencing_token; }));
    CHECK(longest_flight == 200);
  });
}

TEST_CASE_METHOD(Fixture, "a participant that goes while the list is read is left out, and the rest is not") {
  make("/lock/mutex", "-lock-", count);
  const auto nodes = ensemble.nodes();
  ensemble.on_call([&](const FakeCall& call) {
    if (call.operation == "get_children" && call.applied)
      asio::post(simulation.executor(), [&] { ensemble.remove(nodes.back().path); });
    return FakeFault::none;
  });
  CHECK(list(InterProcessMutex{client, "/lock/mutex"}, 8).size() == count - 1);
}

TEST_CASE_METHOD(Fixture, "a list of participants survives a lost link and a lost session at each of its requests") {
  of_each_kind(3, [&](const auto& recipe) { list_despite_faults(recipe); });
}

TEST_CASE_METHOD(Fixture, "a list of participants that cannot be read ends with the client's operation timeout") {
  of_each_kind(3, [&](const auto& recipe) { give_up_in_time(recipe); });
}
