// What the streams of an election do not tell twice.
#include "support/catch.hpp"
#include "support/exploration.hpp"

#include <zklock/recipes/leader/leader_latch.hpp>

#include <functional>
#include <string>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

const std::string path = "/leader/orders";

ClientConfig config() { return {.session_timeout = 10s, .retry = ExponentialBackoffRetry{20ms, 8}}; }

void play(std::function<asio::awaitable<void>(Simulation&)> body) {
  Simulation simulation;
  simulation.actor([&] { return body(simulation); });
  simulation.run();
  INFO((simulation.failures().empty() ? std::string{} : simulation.failures().front()));
  CHECK(simulation.failures().empty());
}

}  // namespace

TEST_CASE("a leader is told once, however often its node's data are written") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    LeaderStream leaders = LeaderLatch{simulation.client("reader", config()), path}.leaders();
    const LeaderLatch latch{simulation.client("a", config()), path, "a"};
    Leadership leadership = co_await latch.async_lead();
    std::optional<Leader> leader = co_await leaders.async_next();
    if (!leader) leader = co_await leaders.async_next();  // there may have been none yet
    REQUIRE(leader);
    CHECK(leader->id == "a");
    for (const char* data : {"b", "c", "d"}) {
      simulation.ensemble().set_data(leadership.node_path(), data);
      co_await test::pause(1s);
    }
    simulation.ensemble().cut_all();
    co_await test::pause(5s);
    co_await leadership.async_resign();
    leader = co_await leaders.async_next();
    CHECK_FALSE(leader);
  });
}

TEST_CASE("a candidate is told once that it waits, however long no server is there") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    simulation.ensemble().refuse_connections();
    CandidacyStream candidacy = LeaderLatch{simulation.client("a", config()), path}.stand();
    co_await test::pause(5min);  // it has tried several times
    simulation.ensemble().accept_connections();
    CandidacyEvent event = co_await candidacy.async_next();
    CHECK(event.state == CandidacyState::waiting);
    event = co_await candidacy.async_next();
    CHECK(event.state == CandidacyState::leading);
  });
}
