// LeaderLatch and LeaderSelector under every fault at every step.
#include "support/catch.hpp"
#include "support/exploration.hpp"
#include "support/lock_watch.hpp"

#include <zklock/recipes/leader/lead_while.hpp>
#include <zklock/recipes/leader/leader_latch.hpp>
#include <zklock/recipes/leader/leader_selector.hpp>
#include <zklock/timer.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;
using zklock::test::LockWatch;

namespace {

const std::string directory = "/leader/orders";

ClientConfig patient() { return {.session_timeout = 10s, .retry = ExponentialBackoffRetry{20ms, 8}}; }

/// Leads for a while, and resigns.
struct Stander {
  std::string name;
  std::string client = name;  ///< those of the same client are local waiters
  std::chrono::milliseconds comes_after{0};
  std::chrono::milliseconds limit{0};  ///< 0: none
  std::optional<int> priority{};
  int step_backs = 0;  ///< how many times it steps back before it resigns
  bool selector = false;
};

LeaderElection election_of(Simulation& simulation, const Stander& self) {
  Client& client = simulation.client(self.client, patient());
  if (self.selector) return LeaderSelector{client, directory, self.name};
  return LeaderLatch{client, directory, self.name, {.priority = self.priority}};
}

asio::awaitable<void> stand(Simulation& simulation, std::shared_ptr<LockWatch> watch, Stander self) {
  co_await test::pause(self.comes_after);
  const LeaderElection election = election_of(simulation, self);
  auto leading = simulation.operation<Leadership>(self.client, {"lead", self.limit}, [&](auto token) {
    if (self.limit == 0ms) {
      election.async_lead(std::move(token));
    } else {
      election.async_lead(self.limit, std::move(token));
    }
  });
  auto [error, leadership] = co_await std::move(leading);
  if (error == LockError::lock_lost) simulation.fail(self.name + " does not start over");
  for (int n = 0; !error; ++n) {
    watch->granted(self.name, leadership.node_path(), leadership.fencing_token());
    co_await test::pause(1s);
    watch->released(self.name);
    if (n == self.step_backs) break;
    auto stepping = simulation.operation<Leadership>(
        self.client, {.name = "step back"},
        [&leadership = leadership](auto token) { leadership.async_step_back(std::move(token)); });
    auto [failed, next] = co_await std::move(stepping);
    if (leadership.state() != LeaseState::released && leadership.state() != LeaseState::lost)
      simulation.fail(self.name + " leads on after it has stepped back");
    error = failed;
    leadership = std::move(next);
  }
  if (error) co_return;
  auto resigned =
      simulation.operation<>(self.client, {.name = "resign", .can_be_cancelled = false},
                             [&leadership = leadership](auto token) { leadership.async_resign(std::move(token)); });
  co_await std::move(resigned);
}

void check(const std::vector<Stander>& standers, std::size_t pairs, const std::string& operator_deletes = {}) {
  const auto scenario = [&](Simulation& simulation) {
    const auto watch = std::make_shared<LockWatch>(simulation, directory);
    simulation.invariant("idle clients watch nothing",
                         [&simulation] { return test::idle_clients_watch_nothing(simulation, {directory}); });
    for (const Stander& each : standers)
      simulation.actor([&simulation, watch, each] { return stand(simulation, watch, each); });
  };
  test::check_exploration(scenario, pairs, {.operator_deletes = operator_deletes});
}

}  // namespace

TEST_CASE("two candidates of a latch lead in turn whatever fails") {
  check({{.name = "a"}, {.name = "b", .comes_after = 100ms}}, 300);
}

TEST_CASE("two candidates of a selector lead in turn whatever fails") {
  check({{.name = "a", .selector = true}, {.name = "b", .comes_after = 100ms, .selector = true}}, 200);
}

TEST_CASE("candidates of one client and of another one lead in turn whatever fails") {
  check({{.name = "a", .client = "one"},
         {.name = "b", .client = "one", .comes_after = 100ms},
         {.name = "c", .client = "two", .comes_after = 200ms}},
        200);
}

TEST_CASE("a candidate whose time is up leaves no trace whatever fails") {
  check({{.name = "a"}, {.name = "b", .comes_after = 100ms, .limit = 500ms}}, 200);
}

TEST_CASE("a leader that steps back leads again, and never two at a time, whatever fails") {
  check({{.name = "a", .step_backs = 1}, {.name = "b", .comes_after = 100ms}}, 300);
}

TEST_CASE("candidates with priorities never lead two at a time whatever fails") {
  check({{.name = "a", .priority = 3},
         {.name = "b", .comes_after = 100ms, .priority = 1},
         {.name = "c", .comes_after = 200ms, .priority = 7}},
        100);
  check({{.name = "a", .client = "one", .priority = 3},
         {.name = "b", .client = "one", .comes_after = 100ms, .priority = 1},
         {.name = "c", .client = "two", .comes_after = 200ms, .priority = 7}},
        100);
}

TEST_CASE("candidates whose nodes an operator deletes stand again, and never lead two at a time, whatever fails") {
  check({{.name = "a"}, {.name = "b", .comes_after = 100ms}}, 100, directory);
  check({{.name = "a", .priority = 1}, {.name = "b", .comes_after = 100ms, .priority = 2}}, 100, directory);
}

// ---- lead_while

namespace {

/// The body must be over before its node's delete is sent, unless an operator or the session's end has deleted the
/// node: so the node is there whenever the body runs and the session lives.
asio::awaitable<void> run_while_leading(Simulation& simulation, std::shared_ptr<LockWatch> watch, std::string name) {
  const LeaderLatch latch{simulation.client(name, patient()), directory};
  const auto body = [&](Leadership& leadership) -> asio::awaitable<void> {
    if (leadership.state() == LeaseState::lost) simulation.fail(name + " runs without leading");
    const std::string node = leadership.node_path();
    watch->granted(name, node, leadership.fencing_token());
    Timer timer{co_await asio::this_coro::executor, 1s};
    co_await timer.async_wait(asio::as_tuple(asio::deferred));
    const auto nodes = simulation.ensemble().nodes();
    const bool exists = std::ranges::any_of(nodes, [&](const FakeNode& each) { return each.path == node; });
    if (!exists && leadership.state() == LeaseState::held && !simulation.was_deleted_by_operator(node) &&
        simulation.ensemble().is_alive(simulation.client(name).session().id()))
      simulation.fail(name + " runs though its node was deleted");
    watch->released(name);
  };
  auto leading = simulation.operation<>(name, {.name = "lead_while"}, [&](auto token) {
    asio::co_spawn(simulation.executor(), lead_while(latch, body),
                   asio::bind_cancellation_slot(asio::get_associated_cancellation_slot(token),
                                                [token = std::move(token)](const std::exception_ptr& thrown) mutable {
                                                  error_code error;
                                                  try {
                                                    if (thrown) std::rethrow_exception(thrown);
                                                  } catch (const boost::system::system_error& failed) {
                                                    error = failed.code();
                                                  }
                                                  std::move(token)(error);
                                                }));
  });
  co_await std::move(leading);
}

void run_in_turn(Simulation& simulation) {
  const auto watch = std::make_shared<LockWatch>(simulation, directory);
  simulation.invariant("idle clients watch nothing",
                       [&simulation] { return test::idle_clients_watch_nothing(simulation, {directory}); });
  for (const std::string name : {"a", "b"})
    simulation.actor([&simulation, watch, name] { return run_while_leading(simulation, watch, name); });
}

}  // namespace

TEST_CASE("what runs in lead_while never runs twice at once, and ends before its node is deleted, whatever fails") {
  test::check_exploration(run_in_turn, 200);
}

// ---- streams

namespace {

struct Watched {
  std::optional<LeaderStream> leaders;
  int candidates = 2;
};

/// Reads the leaders until no candidate is left.
asio::awaitable<void> read_leaders(Simulation& simulation, std::shared_ptr<Watched> watched) {
  watched->leaders.emplace(LeaderLatch{simulation.client("reader", patient()), directory}.leaders());
  std::int64_t newest = 0;
  while (watched->leaders) {
    auto reading = simulation.operation<std::optional<Leader>>(
        "reader", {.name = "read"}, [&](auto token) { watched->leaders->async_next(std::move(token)); });
    const auto [error, leader] = co_await std::move(reading);
    if (error) co_return;
    if (leader && leader->fencing_token < newest) simulation.fail("an earlier leader is shown after a later one");
    if (leader) newest = leader->fencing_token;
  }
}

/// Stands by a stream until it has led, and a moment more.
asio::awaitable<void> stand_by_stream(Simulation& simulation, std::shared_ptr<LockWatch> watch, std::string name) {
  const LeaderLatch latch{simulation.client(name, patient()), directory, name};
  CandidacyStream candidacy = latch.stand();
  for (;;) {
    auto reading = simulation.operation<CandidacyEvent>(name, {.name = "read"},
                                                        [&](auto token) { candidacy.async_next(std::move(token)); });
    const auto [error, event] = co_await std::move(reading);
    if (error) co_return;
    if (event.state == CandidacyState::leading && candidacy.state() == CandidacyState::leading) break;
  }
  const std::int64_t token = candidacy.fencing_token();
  if (token == 0) co_return;  // lost in between
  const auto nodes = simulation.ensemble().nodes();
  const auto own = std::ranges::find(nodes, token, [](const FakeNode& each) { return each.stat.czxid; });
  watch->granted(name, own == nodes.end() ? std::string{} : own->path, token);
  co_await test::pause(1s);
  watch->released(name);
}

asio::awaitable<void> stand_while_watched(Simulation& simulation, std::shared_ptr<LockWatch> watch,
                                          std::shared_ptr<Watched> watched, std::string name) {
  co_await stand_by_stream(simulation, watch, name);
  if (--watched->candidates == 0) watched->leaders.reset();
}

void stand_and_look(Simulation& simulation) {
  const auto watch = std::make_shared<LockWatch>(simulation, directory);
  const auto watched = std::make_shared<Watched>();
  simulation.actor([&simulation, watched] { return read_leaders(simulation, watched); });
  for (const std::string name : {"a", "b"})
    simulation.actor(
        [&simulation, watch, watched, name] { return stand_while_watched(simulation, watch, watched, name); });
}

}  // namespace

TEST_CASE(
    "candidates that stand by a stream lead in turn, and no reader sees an earlier leader later, whatever fails") {
  test::check_exploration(stand_and_look, 200);
}
