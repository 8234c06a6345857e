// Watches under every fault at every step.
#include "support/catch.hpp"
#include "support/exploration.hpp"

#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/caches/watching.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

const ClientConfig patient{.session_timeout = 10s, .retry = ExponentialBackoffRetry{20ms, 8}};
const std::string path = "/app";

std::optional<FakeNode> truth(const Simulation& simulation, const std::string& of) {
  const auto nodes = simulation.ensemble().nodes();
  const auto found = std::ranges::find(nodes, of, &FakeNode::path);
  return found == nodes.end() ? std::nullopt : std::optional{*found};
}

std::set<std::string> true_names(const Simulation& simulation) {
  std::set<std::string> names;
  for (const FakeNode& node : simulation.ensemble().nodes())
    if (node.path.starts_with(path + "/")) names.insert(node.path.substr(path.size() + 1));
  return names;
}

/// What a reader of both watches knows.
struct Seen {
  std::optional<DataResult> node;
  bool has_node = false;
  bool has_list = false;
  std::set<std::string> names;
  int writers_left = 1;
  bool is_over = false;
};

void check(Simulation& simulation, const Seen& seen, const DataChange& change) {
  using Kind = DataChange::Kind;
  const auto& before = seen.node;
  const auto& now = change.node;
  const auto claim = [&](bool holds, const char* what) {
    if (!holds) simulation.fail(std::string{"the watch of data: "} + what);
  };
  claim((change.kind == Kind::initial) == !seen.has_node, "the first change is the state, and no other one is");
  if (change.kind == Kind::created) claim(!before && now, "created what was there");
  if (change.kind == Kind::deleted) claim(before && !now, "deleted what was not there");
  if (change.kind == Kind::recreated) claim(before && now && now->stat.czxid > before->stat.czxid, "not recreated");
  if (change.kind != Kind::changed) return;
  claim(before && now && now->stat.czxid == before->stat.czxid, "changed into another node");
  if (before && now) claim(now->stat.version == before->stat.version + 1 + change.skipped, "a version is not counted");
}

asio::awaitable<void> read_data(Simulation& simulation, std::shared_ptr<Seen> seen, DataWatch& watch) {
  while (!seen->is_over) {
    auto next = simulation.operation<DataChange>("reader", {.name = "next data"},
                                                 [&](auto token) { watch.async_next(std::move(token)); });
    auto [error, change] = co_await std::move(next);
    if (error == asio::error::operation_aborted) continue;
    if (error) co_return;
    check(simulation, *seen, change);
    seen->has_node = true;
    seen->node = std::move(change.node);
  }
}

asio::awaitable<void> read_children(Simulation& simulation, std::shared_ptr<Seen> seen, ChildrenWatch& watch) {
  while (!seen->is_over) {
    auto next = simulation.operation<ChildrenChange>("reader", {.name = "next children"},
                                                     [&](auto token) { watch.async_next(std::move(token)); });
    auto [error, change] = co_await std::move(next);
    if (error == asio::error::operation_aborted) continue;
    if (error) co_return;
    seen->has_list = true;
    for (const std::string& name : change.removed) seen->names.erase(name);
    for (const std::string& name : change.added) seen->names.insert(name);
    if (!std::ranges::equal(change.names, seen->names)) simulation.fail("the names do not add up");
  }
}

bool is_right(const Simulation& simulation, const Seen& seen) {
  const auto node = truth(simulation, path);
  const bool same_node = node.has_value() == seen.node.has_value() &&
                         (!node || (node->data == seen.node->data && node->stat.mzxid == seen.node->stat.mzxid &&
                                    node->stat.czxid == seen.node->stat.czxid));
  return seen.has_node && seen.has_list && same_node && seen.names == true_names(simulation);
}

/// A minute after the last change, both watches show what is there: unless the client was closed.
asio::awaitable<void> follow(Simulation& simulation, std::shared_ptr<Seen> seen) {
  Client& client = simulation.client("reader", patient);
  DataWatch data = watch_data(client, path);
  ChildrenWatch children = watch_children(client, path);
  auto executor = co_await asio::this_coro::executor;
  asio::co_spawn(executor, read_data(simulation, seen, data), asio::detached);
  asio::co_spawn(executor, read_children(simulation, seen, children), asio::detached);
  while (seen->writers_left > 0) co_await test::pause(100ms);
  for (int i = 0; i < 600 && !is_right(simulation, *seen); ++i) co_await test::pause(100ms);
  if (client.state() != ConnectionState::closed && !is_right(simulation, *seen))
    simulation.fail("the watches do not show what is there");
  seen->is_over = true;
}

asio::awaitable<void> write(Simulation& simulation, std::shared_ptr<Seen> seen) {
  Client& client = simulation.client("writer", patient);
  const auto create = [&](std::string node) {
    return client.async_create(std::move(node), "", CreateOptions{CreateMode::persistent}.idempotent(), use_tuple);
  };
  const auto remove = [&](std::string node) {
    return client.async_remove(std::move(node), RemoveOptions{}.quietly(), use_tuple);
  };
  co_await create(path);
  co_await client.async_set_data(path, "1", use_tuple);
  co_await create(path + "/a");
  co_await test::pause(30ms);
  co_await remove(path + "/a");
  co_await remove(path);
  co_await create(path);
  co_await create(path + "/a");
  co_await client.async_set_data(path, "2", use_tuple);
  co_await create(path + "/b");
  --seen->writers_left;
}

void follows(Simulation& simulation) {
  auto seen = std::make_shared<Seen>();
  simulation.actor([&simulation, seen] { return follow(simulation, seen); });
  simulation.actor([&simulation, seen] { return write(simulation, seen); });
}

}  // namespace

TEST_CASE("watches show each node as it is in the end, and what they show adds up, whatever fails") {
  test::check_exploration(follows, 500);
}

TEST_CASE("watches show what an operator leaves") { test::check_exploration(follows, 100, {.operator_deletes = path}); }
