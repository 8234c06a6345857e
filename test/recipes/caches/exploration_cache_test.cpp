// CuratorCache under every fault at every step.
#include "support/catch.hpp"
#include "support/exploration.hpp"

#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/caches/curator_cache.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <string>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

const ClientConfig patient{.session_timeout = 10s, .retry = ExponentialBackoffRetry{20ms, 8}};
const std::string path = "/app";

bool is_same(const ChildDataPtr& left, const ChildDataPtr& right) {
  return left && right && left->data == right->data && left->stat.mzxid == right->stat.mzxid &&
         left->stat.czxid == right->stat.czxid;
}

bool are_same(const CacheSnapshot& left, const CacheSnapshot& right) {
  return std::ranges::equal(left, right, [](const auto& one, const auto& other) {
    return one.first == other.first && is_same(one.second, other.second);
  });
}

CacheSnapshot truth(const Simulation& simulation) {
  CacheSnapshot nodes;
  for (const FakeNode& node : simulation.ensemble().nodes())
    if (node.path == path || node.path.starts_with(path + "/"))
      nodes[node.path] = std::make_shared<ChildData>(ChildData{node.path, node.data, node.stat});
  return nodes;
}

struct Books {
  CacheSnapshot known;  // from the events
  int at_work = 1;
  bool is_over = false;
};

/// The events fit what they change, and no node goes back.
void fold(Simulation& simulation, Books& books, const CacheEvent& event) {
  const auto found = books.known.find(event.path);
  const ChildDataPtr before = found == books.known.end() ? nullptr : found->second;
  if (event.type == CacheEvent::Type::reset) simulation.fail("the servers are said to have lost something");
  if (event.path.empty()) return;
  if (before != event.before) simulation.fail("an event of " + event.path + " does not fit what was told before");
  if (before && event.now && event.now->stat.mzxid <= before->stat.mzxid) simulation.fail(event.path + " goes back");
  if (event.now) {
    books.known[event.path] = event.now;
  } else {
    books.known.erase(event.path);
  }
}

asio::awaitable<void> read(Simulation& simulation, std::shared_ptr<Books> books, CacheEvents& events) {
  while (!books->is_over) {
    auto next = simulation.operation<CacheEvent>("reader", {.name = "next"},
                                                 [&](auto token) { events.async_next(std::move(token)); });
    auto [error, event] = co_await std::move(next);
    if (error == asio::error::operation_aborted) continue;
    if (error) co_return;
    fold(simulation, *books, event);
  }
}

/// A cache that says that it is live has what the ensemble had a moment before.
bool is_honest(const Simulation& simulation, const CuratorCache& cache, const CacheSnapshot& a_moment_ago) {
  if (cache.freshness().state != Freshness::State::live) return true;
  const auto shown = cache.snapshot();
  const CacheSnapshot now = truth(simulation);
  return std::ranges::all_of(a_moment_ago, [&](const auto& entry) {
    const auto still = now.find(entry.first);
    if (still == now.end() || !is_same(still->second, entry.second)) return true;  // has changed since
    const auto seen = shown->find(entry.first);
    return seen != shown->end() && is_same(seen->second, entry.second);
  });
}

asio::awaitable<void> follow(Simulation& simulation, std::shared_ptr<Books> books) {
  Client& client = simulation.client("reader", patient);
  const CuratorCache cache{client, path};
  CacheEvents events = cache.events();
  asio::co_spawn(co_await asio::this_coro::executor, read(simulation, books, events), asio::detached);
  const auto is_right = [&] {
    return are_same(*cache.snapshot(), truth(simulation)) && are_same(books->known, truth(simulation)) &&
           cache.freshness().state == Freshness::State::live;
  };
  for (int i = 0; books->at_work > 0 || (i < 3000 && !is_right()); i += books->at_work > 0 ? 0 : 1) {
    const CacheSnapshot before = truth(simulation);
    co_await test::pause(20ms);
    if (Clock::now() > simulation.woke() + 100ms && !is_honest(simulation, cache, before))
      simulation.fail("a live cache shows what has long changed");
  }
  if (client.state() != ConnectionState::closed && !is_right()) simulation.fail("the cache is not what is there");
  auto seen = simulation.operation<>("reader", {.name = "refresh", .within = 30s},
                                     [&](auto token) { cache.async_refresh(30s, std::move(token)); });
  co_await std::move(seen);
  books->is_over = true;
}

asio::awaitable<void> write(Simulation& simulation, std::shared_ptr<Books> books) {
  Client& client = simulation.client("writer", patient);
  const auto create = [&](std::string node) {
    return client.async_create(std::move(node), "", CreateOptions{CreateMode::persistent}.idempotent(), use_tuple);
  };
  const auto remove = [&](std::string node) {
    return client.async_remove(std::move(node), RemoveOptions{}.quietly(), use_tuple);
  };
  co_await create(path);
  co_await create(path + "/a");
  co_await create(path + "/a/x");
  co_await test::pause(30ms);
  co_await client.async_set_data(path + "/a/x", "1", use_tuple);
  co_await remove(path + "/a/x");
  co_await remove(path + "/a");
  co_await create(path + "/a");
  co_await create(path + "/a/y");
  co_await client.async_set_data(path, "2", use_tuple);
  --books->at_work;
}

void follows(Simulation& simulation) {
  auto books = std::make_shared<Books>();
  simulation.actor([&simulation, books] { return follow(simulation, books); });
  simulation.actor([&simulation, books] { return write(simulation, books); });
}

}  // namespace

TEST_CASE("a cache is what is there in the end, its events add up to it, and it is not live before, whatever fails") {
  test::check_exploration(follows, 300);
}

TEST_CASE("a cache shows what an operator leaves") { test::check_exploration(follows, 60, {.operator_deletes = path}); }
