// What a leadership and the streams tell, under a clock that the tests move.
#include "support/catch.hpp"
#include "support/exploration.hpp"

#include <zklock/recipes/leader/lead_while.hpp>
#include <zklock/recipes/leader/leader_latch.hpp>
#include <zklock/recipes/leader/leader_selector.hpp>
#include <zklock/recipes/locks/inter_process_mutex.hpp>
#include <zklock/recipes/locks/lock_observer.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

const std::string path = "/leader/orders";
constexpr std::chrono::milliseconds timeout{10'000};

ClientConfig config() { return {.session_timeout = timeout, .retry = ExponentialBackoffRetry{20ms, 8}}; }

void play(std::function<asio::awaitable<void>(Simulation&)> body) {
  Simulation simulation;
  simulation.actor([&] { return body(simulation); });
  simulation.run();
  INFO((simulation.failures().empty() ? std::string{} : simulation.failures().front()));
  CHECK(simulation.failures().empty());
}

std::vector<FakeNode> candidates(Simulation& simulation) {
  auto nodes = simulation.ensemble().nodes();
  std::erase_if(nodes, [](const FakeNode& each) { return !each.path.starts_with(path + "/"); });
  std::ranges::sort(nodes, {}, [](const FakeNode& each) { return each.stat.czxid; });
  return nodes;
}

std::uint64_t calls(Simulation& simulation) { return simulation.ensemble().counters().calls; }

/// Waits, for a minute at most.
asio::awaitable<bool> soon(std::function<bool()> condition) {
  for (int n = 0; n < 6'000 && !condition(); ++n) co_await test::pause(10ms);
  co_return condition();
}

struct Observed : Observer, LockObserver {
  std::vector<std::pair<LockPhase, LockKind>> heard;
  std::function<void()> on_grant;
  void on_lock(const LockEvent& event) override {
    if (event.phase == LockPhase::granted && on_grant) on_grant();
    if (event.phase == LockPhase::granted || event.phase == LockPhase::released || event.phase == LockPhase::lost)
      heard.emplace_back(event.phase, event.kind);
  }
};

}  // namespace

TEST_CASE("a latch's nodes have Curator's name and the bare id, a selector's those of a mutex and the bare id") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    const Client& client = simulation.client("a", config());
    for (const LeaderElection& election : {LeaderElection{LeaderLatch{client, path, "it's me"}},
                                           LeaderElection{LeaderSelector{client, path, "it's me"}}}) {
      Leadership leadership = co_await election.async_lead();
      const auto nodes = candidates(simulation);
      REQUIRE(nodes.size() == 1);
      CHECK(nodes[0].data == "it's me");
      CHECK(nodes[0].path == leadership.node_path());
      CHECK(nodes[0].stat.czxid == leadership.fencing_token());
      co_await leadership.async_resign();
      CHECK(leadership.state() == LeaseState::released);
      CHECK(candidates(simulation).empty());
    }
    const LeaderLatch unnamed{client, path, ""};
    const LeaderLatch by_client{client, path};
    CHECK(by_client.id() == client.client_id());
    const Leadership leadership = co_await unnamed.async_lead();
    const auto nodes = candidates(simulation);
    REQUIRE(nodes.size() == 1);
    CHECK(nodes[0].data.empty());
    CHECK(nodes[0].path.find("/_c_") != std::string::npos);
    CHECK(nodes[0].path.find("-latch-0000000") != std::string::npos);
  });
}

TEST_CASE("a latch's data are never written, whatever its leadership goes through") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    const LeaderLatch latch{simulation.client("a", config()), path, "a"};
    Leadership leadership = co_await latch.async_lead();
    const auto [busy, none] = co_await latch.async_lead(0s, asio::as_tuple(asio::deferred));
    CHECK(busy == Error::timed_out);
    simulation.ensemble().cut_all();
    co_await test::pause(5s);
    CHECK(leadership.is_held());
    const auto nodes = candidates(simulation);
    REQUIRE(nodes.size() == 1);
    CHECK(nodes[0].stat.version == 0);
    leadership = co_await leadership.async_step_back();
    CHECK(leadership.is_held());
    CHECK(candidates(simulation).at(0).stat.version == 0);
  });
}

TEST_CASE("a leader without a link is suspect, and lost at valid_until() at the latest") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    const LeaderLatch latch{simulation.client("a", config()), path};
    Leadership leadership = co_await latch.async_lead();
    CHECK(leadership.valid_until() > Clock::now() + timeout / 2);
    CHECK(leadership.remaining() <= timeout);
    simulation.ensemble().refuse_connections();
    simulation.ensemble().cut_all();
    co_await test::pause(100ms);
    CHECK(leadership.state() == LeaseState::suspect);
    const Clock::time_point until = leadership.valid_until();
    co_await leadership.async_wait_lost();
    CHECK(Clock::now() >= until);
    CHECK(Clock::now() < until + 50ms);
    CHECK(leadership.state() == LeaseState::lost);
    CHECK(leadership.valid_until() == Clock::time_point{});
    simulation.ensemble().accept_connections();
  });
}

TEST_CASE("the next candidate leads by one event, without a request before the grant") {
  const auto observed = std::make_shared<Observed>();
  play([&](Simulation& simulation) -> asio::awaitable<void> {
    ClientConfig heard = config();
    heard.observers = {observed};
    std::optional<std::uint64_t> calls_at_grant;
    observed->on_grant = [&] { calls_at_grant = calls(simulation); };
    const LeaderLatch first{simulation.client("a", config()), path};
    const LeaderLatch second{simulation.client("b", heard), path};
    Leadership leader = co_await first.async_lead();
    Leadership next;
    second.async_lead(
        asio::bind_executor(simulation.executor(), [&](error_code, Leadership granted) { next = std::move(granted); }));
    co_await test::pause(500ms);
    CHECK(candidates(simulation).size() == 2);
    CHECK_FALSE(calls_at_grant);
    const std::uint64_t before = calls(simulation);
    const std::uint64_t events = simulation.ensemble().counters().watch_events;
    co_await leader.async_resign();
    const bool leads = co_await soon([&] { return next.is_held(); });
    CHECK(leads);
    REQUIRE(calls_at_grant);
    CHECK(*calls_at_grant == before + 1);  // the delete
    CHECK(simulation.ensemble().counters().watch_events == events + 1);
  });
}

TEST_CASE("a leader that steps back leads again behind all that waited, and keeps a place in the queue") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    const LeaderLatch mine{simulation.client("a", config()), path, "a", {.priority = 5}};
    const LeaderLatch theirs{simulation.client("b", config()), path, "b", {.priority = 5}};
    Leadership leader = co_await mine.async_lead();
    std::optional<Leadership> second;
    theirs.async_lead(asio::bind_executor(simulation.executor(),
                                          [&](error_code, Leadership granted) { second = std::move(granted); }));
    const bool is_soon_2 = co_await soon([&] { return candidates(simulation).size() == 2; });
    CHECK(is_soon_2);
    std::optional<Leadership> again;
    leader.async_step_back(asio::bind_executor(simulation.executor(), [&](error_code error, Leadership granted) {
      CHECK_FALSE(error);
      again = std::move(granted);
    }));
    const bool is_soon_3 = co_await soon([&] { return second.has_value(); });
    CHECK(is_soon_3);
    CHECK(leader.state() == LeaseState::released);
    CHECK_FALSE(again);
    const auto nodes = candidates(simulation);
    REQUIRE(nodes.size() == 2);
    CHECK(nodes[0].data == "b");
    CHECK(nodes[1].data == "a");
    CHECK(nodes[0].path.find("-p005-latch-") != std::string::npos);
    CHECK(nodes[1].path.find("-p005-latch-") == std::string::npos);
    second.reset();
    const bool is_soon_4 = co_await soon([&] { return again.has_value(); });
    CHECK(is_soon_4);
    CHECK(again->fencing_token() == nodes[1].stat.czxid);
  });
}

TEST_CASE("the candidate with the highest priority leads next, whenever it came") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    std::vector<std::string> order;
    std::vector<Leadership> led;
    LeaderLatch first{simulation.client("first", config()), path, "first", {.priority = 0}};
    Leadership leader = co_await first.async_lead();
    for (const auto& [name, priority] : {std::pair{"low", 1}, std::pair{"high", 9}, std::pair{"middle", 4}}) {
      const LeaderLatch latch{simulation.client(name, config()), path, name, {.priority = priority}};
      latch.async_lead(
          asio::bind_executor(simulation.executor(), [&order, &led, name = name](error_code error, Leadership granted) {
            CHECK_FALSE(error);
            order.emplace_back(name);
            led.push_back(std::move(granted));
          }));
      co_await test::pause(200ms);
    }
    co_await leader.async_resign();
    for (std::size_t n = 0; n < 3; ++n) {
      const bool is_soon_5 = co_await soon([&] { return led.size() == n + 1; });
      CHECK(is_soon_5);
      co_await led.at(n).async_resign();
    }
    CHECK(order == std::vector<std::string>{"high", "middle", "low"});
    CHECK(led[0].fencing_token() < led[1].fencing_token());
    CHECK(led[1].fencing_token() < led[2].fencing_token());
  });
}

TEST_CASE("one try of a candidate does not lead while a higher one waits, and leaves no trace") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    const LeaderLatch low{simulation.client("a", config()), path, "a", {.priority = 1}};
    const LeaderLatch high{simulation.client("b", config()), path, "b", {.priority = 2}};
    Leadership leader = co_await low.async_lead();
    const auto [busy, none] = co_await high.async_lead(0s, asio::as_tuple(asio::deferred));
    CHECK(busy == Error::timed_out);
    co_await test::pause(100ms);
    CHECK(candidates(simulation).size() == 1);
  });
}

TEST_CASE("a candidacy tells of waiting, leading, suspect and lost, and stands again") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    const LeaderLatch latch{simulation.client("a", config()), path, "a"};
    std::optional<CandidacyStream> candidacy{latch.stand()};
    CandidacyEvent event = co_await candidacy->async_next();
    CHECK(event.state == CandidacyState::waiting);
    const CandidacyEvent first = co_await candidacy->async_next();
    CHECK(first.state == CandidacyState::leading);
    CHECK(candidacy->has_leadership());
    CHECK(candidacy->fencing_token() == first.fencing_token);
    CHECK(candidacy->valid_until() > Clock::now());
    simulation.ensemble().refuse_connections();
    simulation.ensemble().cut_all();
    event = co_await candidacy->async_next();
    CHECK(event == CandidacyEvent{CandidacyState::suspect, first.fencing_token});
    CHECK(candidacy->fencing_token() == first.fencing_token);
    simulation.ensemble().accept_connections();
    event = co_await candidacy->async_next();
    CHECK(event == CandidacyEvent{CandidacyState::leading, first.fencing_token});
    simulation.ensemble().expire(simulation.client("a").session().id());
    event = co_await candidacy->async_next();
    if (event.state == CandidacyState::suspect) event = co_await candidacy->async_next();
    CHECK(event == CandidacyEvent{CandidacyState::lost, first.fencing_token});
    event = co_await candidacy->async_next();
    CHECK(event.state == CandidacyState::waiting);
    const CandidacyEvent second = co_await candidacy->async_next();
    CHECK(second.state == CandidacyState::leading);
    CHECK(second.fencing_token > first.fencing_token);
    candidacy.reset();
    const bool has_resigned = co_await soon([&] { return candidates(simulation).empty(); });
    CHECK(has_resigned);
  });
}

TEST_CASE("a candidacy begins without a server, and leads when there is one") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    simulation.ensemble().refuse_connections();
    const LeaderLatch latch{simulation.client("a", config()), path};
    CandidacyStream candidacy = latch.stand();
    co_await test::pause(60s);
    CHECK(candidacy.state() == CandidacyState::waiting);
    CHECK_THROWS_AS(candidacy.guard(), boost::system::system_error);
    simulation.ensemble().accept_connections();
    const bool is_soon_7 = co_await soon([&] { return candidacy.has_leadership(); });
    CHECK(is_soon_7);
    CHECK(candidates(simulation).size() == 1);
  });
}

TEST_CASE("a candidacy that may not create its node ends with the error, for all to see") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    const Client& client = simulation.client("a", config());
    NodeOptions closed;
    closed.acl = read_acl();
    co_await client.async_create("/leader", "", CreateOptions{});
    co_await client.async_create(path, "", closed);
    CandidacyStream candidacy = LeaderLatch{client, path}.stand();
    const CandidacyEvent begun = co_await candidacy.async_next();
    CHECK(begun.state == CandidacyState::waiting);
    const auto [error, event] = co_await candidacy.async_next(asio::as_tuple(asio::deferred));
    CHECK(error == Error::no_auth);
    CHECK(candidacy.state() == CandidacyState::waiting);
    CHECK_FALSE(candidacy.has_leadership());
  });
}

TEST_CASE("a reader of leaders sees each first candidate, an empty queue and a missing directory, and stands nowhere") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    const LeaderLatch reading{simulation.client("reader", config()), path};
    LeaderStream leaders = reading.leaders();
    std::optional<Leader> leader = co_await leaders.async_next();
    CHECK_FALSE(leader);
    const LeaderLatch mine{simulation.client("a", config()), path, "a"};
    const LeaderLatch theirs{simulation.client("b", config()), path, "b"};
    Leadership leadership = co_await mine.async_lead();
    const std::optional<Leader> first = co_await leaders.async_next();
    REQUIRE(first);
    CHECK(first->id == "a");
    CHECK(first->fencing_token == leadership.fencing_token());
    CHECK(first->session_id == simulation.client("a").session().id());
    CHECK(first->node_path == leadership.node_path());
    std::optional<Leadership> second;
    theirs.async_lead(asio::bind_executor(simulation.executor(),
                                          [&](error_code, Leadership granted) { second = std::move(granted); }));
    const bool is_waiting = co_await soon([&] { return candidates(simulation).size() == 2; });
    CHECK(is_waiting);
    const auto listed = co_await reading.async_participants();
    REQUIRE(listed.size() == 2);
    CHECK(listed[0] == *first);
    CHECK(listed[1].id == "b");
    co_await leadership.async_resign();
    leader = co_await leaders.async_next();
    REQUIRE(leader);
    CHECK(leader->id == "b");
    CHECK(leader->fencing_token > first->fencing_token);
    const bool leads = co_await soon([&] { return second.has_value(); });
    CHECK(leads);
    second.reset();
    leader = co_await leaders.async_next();
    CHECK_FALSE(leader);
    const auto nobody = co_await reading.async_participants();
    CHECK(nobody.empty());
  });
}

TEST_CASE("a reader of leaders goes on after its session, and ends with its client") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    Client& client = simulation.client("reader", config());
    LeaderStream leaders = LeaderLatch{client, path}.leaders();
    std::optional<Leader> leader = co_await leaders.async_next();
    CHECK_FALSE(leader);
    const LeaderLatch latch{simulation.client("a", config()), path, "a"};
    Leadership leadership = co_await latch.async_lead();
    leader = co_await leaders.async_next();
    CHECK(leader);
    simulation.ensemble().expire(client.session().id());
    co_await test::pause(1s);
    co_await leadership.async_resign();
    leader = co_await leaders.async_next();
    CHECK_FALSE(leader);
    co_await client.async_close();
    const auto [error, none] = co_await leaders.async_next(asio::as_tuple(asio::deferred));
    CHECK(error == Error::closing);
  });
}

TEST_CASE("the events of a latch are of the kind latch, those of a selector of the kind mutex") {
  const auto observed = std::make_shared<Observed>();
  play([&](Simulation& simulation) -> asio::awaitable<void> {
    ClientConfig heard = config();
    heard.observers = {observed};
    const Client& client = simulation.client("a", heard);
    Leadership latch = co_await LeaderLatch{client, path}.async_lead();
    co_await latch.async_resign();
    Leadership selector = co_await LeaderSelector{client, path}.async_lead();
    simulation.ensemble().expire(client.session().id());
    co_await selector.async_wait_lost();
  });
  CHECK(observed->heard == std::vector<std::pair<LockPhase, LockKind>>{{LockPhase::granted, LockKind::latch},
                                                                       {LockPhase::released, LockKind::latch},
                                                                       {LockPhase::granted, LockKind::mutex},
                                                                       {LockPhase::lost, LockKind::mutex}});
}

TEST_CASE("a client does not stand by a latch where it has a mutex, nor the reverse") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    const Client& client = simulation.client("a", config());
    {
      const Leadership leader = co_await LeaderLatch{client, path}.async_lead();
      const auto [refused, none] =
          co_await InterProcessMutex{client, path}.async_acquire(asio::as_tuple(asio::deferred));
      CHECK(refused == LockError::mixed_lock_kinds);
    }
    co_await test::pause(100ms);
    const Leadership leader = co_await LeaderSelector{client, path}.async_lead();
    const auto [refused, none] = co_await LeaderLatch{client, path}.async_lead(asio::as_tuple(asio::deferred));
    CHECK(refused == LockError::mixed_lock_kinds);
  });
}

TEST_CASE("a selector and a mutex on one path exclude each other") {
  play([](Simulation& simulation) -> asio::awaitable<void> {
    const Leadership leader = co_await LeaderSelector{simulation.client("a", config()), path}.async_lead();
    const InterProcessMutex mutex{simulation.client("b", config()), path};
    const auto [busy, none] = co_await mutex.async_acquire(0s, asio::as_tuple(asio::deferred));
    CHECK(busy == Error::timed_out);
  });
}
