// DistributedDoubleBarrier under every fault at every step. B1 to B5 are the counterexamples of its first draft
// (test/models/double_barrier.py).
#include "support/catch.hpp"
#include "support/exploration.hpp"

#include <zklock/recipes/barriers/distributed_double_barrier.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

const ClientConfig patient{.session_timeout = 10s, .retry = ExponentialBackoffRetry{20ms, 8}};
const std::string path = "/barriers/start";

/// What the ensemble itself has seen of the rounds.
class Rounds {
 public:
  Rounds(Simulation& simulation, int quantity) : simulation_{simulation}, quantity_{quantity} {
    simulation.ensemble().on_transaction([this](const std::vector<FakeNode>& nodes) { on_transaction(nodes); });
  }

  /// Whether a node that a session has made since then was counted.
  [[nodiscard]] bool has_counted(std::int64_t session, std::int64_t since) const {
    return std::ranges::any_of(
        counted_, [&](const auto& each) { return each.second.session == session && each.second.czxid > since; });
  }
  [[nodiscard]] bool is_in(const std::string& node) const { return counted_.contains(node) || late_.contains(node); }
  /// Of those that were counted together with that one, or that it has joined: one that still stands.
  [[nodiscard]] std::string standing_beside(const std::string& node) const {
    const auto round = round_of(node);
    for (const FakeNode& each : simulation_.ensemble().nodes())
      if (const auto found = counted_.find(each.path); found != counted_.end() && found->second.round == round)
        return each.path;
    return {};
  }
  [[nodiscard]] std::int64_t last_zxid() const { return last_zxid_; }

 private:
  struct Counted {
    std::int64_t round;
    std::int64_t session;
    std::int64_t czxid;
  };

  [[nodiscard]] std::int64_t round_of(const std::string& node) const {
    if (const auto late = late_.find(node); late != late_.end()) return late->second;
    const auto found = counted_.find(node);
    return found == counted_.end() ? 0 : found->second.round;
  }

  void on_transaction(const std::vector<FakeNode>& nodes) {
    const FakeNode* ready = nullptr;
    std::vector<const FakeNode*> members;
    for (const FakeNode& node : nodes) {
      last_zxid_ = std::max({last_zxid_, node.stat.czxid, node.stat.mzxid});
      if (node.path == path + "/ready")
        ready = &node;
      else if (node.path.starts_with(path + "/"))
        members.push_back(&node);
    }
    check_ready(ready, members);
    check_waiting(ready, members);
    if (!ready) return;
    if (ready->data.empty() && rounds_.insert(ready->stat.mzxid).second) on_opened(*ready, members);
    for (const FakeNode* each : members)
      if (each->data == "late" && late_.emplace(each->path, ready->stat.mzxid).second) on_late(*each, *ready, members);
  }

  /// Nobody takes `ready` away while a member that it has counted stands.
  void check_ready(const FakeNode* ready, const std::vector<const FakeNode*>& members) {
    const std::int64_t before = std::exchange(ready_, ready ? ready->stat.mzxid : 0);
    if (ready || before == 0 || simulation_.has_operator_deleted()) return;
    for (const FakeNode* each : members)
      if (const auto found = counted_.find(each->path); found != counted_.end() && found->second.round == before)
        simulation_.fail("ready is gone, and " + each->path + " is in");
  }

  /// So many do not wait for long: one of them opens. A client that has lost its session stands for its timeout.
  void check_waiting(const FakeNode* ready, const std::vector<const FakeNode*>& members) {
    const auto waiting = std::ranges::count_if(members, [&](const FakeNode* each) {
      return each->stat.version == 0 && !(ready && each->stat.czxid < ready->stat.mzxid);
    });
    const bool were_enough = enough_since_ != Clock::time_point{};
    if (were_enough && waiting < quantity_ && Clock::now() - std::max(enough_since_, simulation_.woke()) > 15s)
      simulation_.fail("enough wait, and nobody opens");
    if (waiting < quantity_) enough_since_ = {};
    if (waiting >= quantity_ && !were_enough) enough_since_ = Clock::now();
  }

  void on_opened(const FakeNode& ready, const std::vector<const FakeNode*>& members) {
    int counted = 0;
    for (const FakeNode* each : members) {
      if (each->stat.version != 0) continue;
      ++counted;
      // A ready that was made anew may have the version of the one before. Then those that stand open it twice, and all of
      // them are in by the first time.
      counted_.emplace(each->path, Counted{ready.stat.mzxid, each->stat.ephemeral_owner, each->stat.czxid});
    }
    if (counted < quantity_) simulation_.fail("opened by " + std::to_string(counted));
  }

  void on_late(const FakeNode& late, const FakeNode& ready, const std::vector<const FakeNode*>& members) {
    if (std::ranges::none_of(members, [&](const FakeNode* each) {
          return each->path != late.path && each->stat.version == 0 && each->stat.czxid < ready.stat.mzxid;
        }))
      simulation_.fail(late.path + " has joined late, and nobody is in");
  }

  Simulation& simulation_;
  int quantity_;
  std::set<std::int64_t> rounds_;
  std::map<std::string, Counted> counted_;
  std::map<std::string, std::int64_t> late_;
  std::int64_t last_zxid_ = 0;
  std::int64_t ready_ = 0;
  Clock::time_point enough_since_{};
};

struct Part {
  std::string name;
  std::chrono::milliseconds later{0};
  std::chrono::milliseconds wait{60s};
  std::chrono::milliseconds stays{100};
  int rounds = 1;
};

/// What a fault, or an end of the time, may come to.
bool is_trouble(error_code error) {
  return is_retryable(error) || is_session_lost(error) || error == Error::timed_out || error == Error::not_connected ||
         error == Error::closed || error == asio::error::operation_aborted;
}

/// Enters and leaves, and compares what it is told with what the ensemble has seen.
asio::awaitable<bool> take_part(Simulation& simulation, const Rounds& rounds, int quantity, const Part& part) {
  const DistributedDoubleBarrier barrier{simulation.client(part.name, patient), path, quantity};
  const std::int64_t since = rounds.last_zxid();
  auto entering = simulation.operation<BarrierMembership>(
      part.name, {.name = "enter"}, [&](auto token) { barrier.async_enter(part.wait, std::move(token)); });
  auto [error, membership] = co_await std::move(entering);
  if (error == Error::timed_out && rounds.has_counted(simulation.client(part.name).session().id(), since) &&
      !simulation.has_operator_deleted())
    simulation.fail(part.name + " is told no, and was counted");
  if (error && !is_trouble(error)) simulation.fail(part.name + " is refused: " + error.message());
  if (error) co_return false;
  if (!rounds.is_in(membership.node_path()) && !simulation.has_operator_deleted())
    simulation.fail(part.name + " is let in, and was not counted");
  co_await test::pause(part.stays);
  auto leaving = simulation.operation<>(part.name, {.name = "leave"}, [&, &membership = membership](auto token) {
    membership.async_leave(std::move(token));
  });
  const auto [failed] = co_await std::move(leaving);
  const std::string left_behind = rounds.standing_beside(membership.node_path());
  if (!failed && !left_behind.empty() && !simulation.has_operator_deleted())
    simulation.fail(part.name + " is out before " + left_behind);
  co_return !failed;
}

asio::awaitable<void> take_parts(Simulation& simulation, std::shared_ptr<const Rounds> rounds, int quantity,
                                 Part part) {
  co_await test::pause(part.later);
  for (int i = 0; i < part.rounds; ++i)
    if (!co_await take_part(simulation, *rounds, quantity, part)) co_return;
}

asio::awaitable<void> leave_ready_over(Simulation& simulation) {
  CreateOptions options{CreateMode::persistent};
  options.creating_parent_containers();
  co_await simulation.client("operator", patient).async_create(path + "/ready", "left over", options, use_tuple);
}

Scenario barrier_of(int quantity, std::vector<Part> parts, bool left_over = false) {
  return [quantity, parts = std::move(parts), left_over](Simulation& simulation) {
    const auto rounds = std::make_shared<const Rounds>(simulation, quantity);
    simulation.invariant("idle clients watch nothing", [&simulation] {
      // A leave that is cancelled goes on.
      const auto goes_on = [](const Simulation::Operation& each) { return each.name == "leave" && each.cancelled; };
      return std::ranges::any_of(simulation.operations(), goes_on) || test::idle_clients_watch_nothing(simulation);
    });
    if (left_over) simulation.actor([&simulation] { return leave_ready_over(simulation); });
    for (const Part& part : parts)
      simulation.actor(
          [&simulation, rounds, quantity, part] { return take_parts(simulation, rounds, quantity, part); });
  };
}

}  // namespace

TEST_CASE("all or nobody enters a double barrier, and all or nobody is out, whatever fails") {
  test::check_exploration(barrier_of(3, {{"a"}, {"b", 5ms}, {"c", 200ms}}), 300);
}

TEST_CASE("a double barrier that is used again does not wait for its next round") {  // B2, B3
  test::check_exploration(
      barrier_of(2, {{.name = "a", .stays = 0ms, .rounds = 3}, {.name = "b", .stays = 0ms, .rounds = 3}}), 200);
}

TEST_CASE("more members than it takes are let in with the others, or late, or are the next round") {  // B5
  for (const auto later : {0ms, 3ms, 50ms, 101ms, 103ms, 105ms})
    test::check_exploration(
        barrier_of(
            2, {{"a"}, {"b"}, {.name = "c", .later = later, .wait = 500ms}, {.name = "d", .later = 1s, .wait = 2s}}),
        30, {.stride = 3});
}

TEST_CASE("a ready that is left over lets nobody in") {  // B1, B4
  test::check_exploration(barrier_of(2, {{"a", 20ms}, {"b", 20ms}, {.name = "c", .later = 25ms, .wait = 2s}}, true),
                          200);
}

TEST_CASE("nobody whose time is up is told no who was counted") {
  for (const auto later : {492ms, 494ms, 495ms, 496ms, 497ms, 498ms, 499ms, 500ms, 502ms})
    for (const bool left_over : {false, true})
      test::check_exploration(
          barrier_of(2, {{.name = "a", .later = 20ms, .wait = 480ms}, {.name = "b", .later = later, .wait = 2s}},
                     left_over),
          20);
}

/// The last of a round was counted when its time was up, so that nobody joins it late.
TEST_CASE("the last of a round does not take away the ready by which the next one opens") {  // B1
  for (const auto later : {494ms, 495ms, 496ms})
    for (auto stays = 200ms; stays < 224ms; ++stays)
      test::check_exploration(barrier_of(2, {{.name = "a", .later = 20ms, .wait = 480ms, .stays = stays},
                                             {.name = "b", .later = later, .stays = 0ms},
                                             {.name = "c", .later = 700ms, .stays = 500ms},
                                             {.name = "d", .later = 701ms, .stays = 500ms},
                                             {.name = "e", .later = 710ms, .wait = 200ms}}),
                              0, {.stride = 200});
}

TEST_CASE("a double barrier whose nodes an operator deletes lets its members go on") {
  test::check_exploration(barrier_of(2, {{"a"}, {"b", 50ms}}), 100, {.operator_deletes = path});
}
