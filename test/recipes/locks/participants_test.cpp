// What a list of a lock's participants costs, in round trips.
#include "support/catch.hpp"

#include <zklock/recipes/locks/inter_process_mutex.hpp>
#include <zklock/recipes/locks/inter_process_semaphore.hpp>
#include <zklock/testing/simulation.hpp>

#include <boost/asio/bind_executor.hpp>

#include <algorithm>
#include <optional>
#include <string>
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
  Client& client = simulation.client("a", {.session_timeout = 10s});
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

  void make(const std::string& directory, const std::string& marker) {
    for (const std::string& path : {std::string{"/lock"}, directory})
      client.session().async_create(path, "", CreateMode::persistent, [](error_code, const CreateResult&) {});
    for (int i = 0; i < count; ++i)
      client.session().async_create(directory + "/_c_" + std::to_string(i) + marker, "me:1",
                                    CreateMode::ephemeral_sequential, [](error_code, const CreateResult&) {});
    run(10s);
    REQUIRE(ensemble.nodes().size() >= count + 1);
  }
  /// Lists, within so many round trips.
  template <class Lock>
  std::vector<LockParticipant> list(const Lock& lock, int round_trips) {
    std::optional<std::vector<LockParticipant>> listed;
    lock.async_participants(
        asio::bind_executor(simulation.executor(), [&](error_code error, std::vector<LockParticipant> participants) {
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
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a thousand participants are listed in six round trips, at most 200 nodes in each") {
  std::vector<LockParticipant> participants;
  SECTION("of a mutex") {
    make("/lock/mutex", "-lock-");
    participants = list(InterProcessMutex{client, "/lock/mutex"}, 6);
  }
  SECTION("of a semaphore") {
    make("/lock/leases", "-lease-");
    participants = list(InterProcessSemaphore{client, "/lock", count}, 6);
  }
  REQUIRE(participants.size() == count);
  CHECK(std::ranges::is_sorted(participants, {}, &LockParticipant::sequence));
  CHECK(longest_flight == 200);
}

TEST_CASE_METHOD(Fixture, "a participant that goes while the list is read is left out, and the rest is not") {
  make("/lock/mutex", "-lock-");
  const auto nodes = ensemble.nodes();
  ensemble.on_call([&](const FakeCall& call) {
    if (call.operation == "get_children" && call.applied)
      asio::post(simulation.executor(), [&] { ensemble.remove(nodes.back().path); });
    return FakeFault::none;
  });
  CHECK(list(InterProcessMutex{client, "/lock/mutex"}, 8).size() == count - 1);
}
